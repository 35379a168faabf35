/* rope_kernel.h: the contract between a rotary position embedding (RoPE) kernel and whoever calls it.
 *
 * SPDX-License-Identifier: Apache-2.0
 * C99, also valid C++ and CUDA C++. It needs only the two headers below. Copy it into your tree.
 *
 * What a kernel computes. Let x be one head (head_dim features) at position m. Features rotate in pairs p:
 *
 *     half_split     first[p] = o + p     second[p] = o + p + rotary_dim/2
 *     interleaved    first[p] = o + 2p    second[p] = o + 2p + 1              p = 0 .. rotary_dim/2 - 1
 *
 * o is rotary_offset, which is 0 unless ROTARY_OFFSET is claimed.
 *
 * The angle is phi = position[axis[p]] * theta[p] radians. Forward s = +1. Backward s = -1: it maps the gradient of the
 * output to the gradient of the input.
 *
 *     y[first]  = attention_factor * (x[first]  * cos(phi) - s * x[second] * sin(phi))
 *     y[second] = attention_factor * (x[second] * cos(phi) + s * x[first]  * sin(phi))
 *
 * All other features are copied: bit for bit, exactly if the output's type is wider, or rounded once if it is narrower.
 * A NaN may become another NaN. Source: Su et al., RoFormer, arXiv 2104.09864, eq. 15 and 34.
 *
 * A shared library exports two functions, rope_kernel_count and rope_kernel_get (end of this file). A minimal kernel
 * has about sixty lines: examples/my_kernel.c in the repository of ropecheck.
 */
#ifndef ROPE_KERNEL_H
#define ROPE_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Rises when the meaning of a field changes. Fields are only ever appended: struct_size says which ones exist. */
#define ROPE_KERNEL_ABI 1u

/* All enumerations travel as int32_t, so that the layout does not depend on the compiler. */
enum rope_status { ROPE_OK = 0, ROPE_UNSUPPORTED = 1, ROPE_INVALID_ARGUMENT = 2, ROPE_FAILED = 3 };
enum rope_dtype { ROPE_F64 = 0, ROPE_F32 = 1, ROPE_F16 = 2, ROPE_BF16 = 3, ROPE_I32 = 4, ROPE_I64 = 5 };
enum rope_pairing { ROPE_HALF_SPLIT = 0, ROPE_INTERLEAVED = 1 };
enum rope_direction { ROPE_FORWARD = 0, ROPE_BACKWARD = 1 };
enum rope_device { ROPE_CPU = 0, ROPE_CUDA = 1 };

/* Where the angles come from. */
enum rope_angle_source {
  ROPE_TABLES = 0,      /* cos and sin are given, one row a position */
  ROPE_FREQUENCIES = 1, /* theta is given, one a pair */
  ROPE_COMPUTED = 2     /* base and scaling are given */
};

/* How theta follows from base. r = rotary_dim, p = pair, f = factor (above 0), L = original_max_position,
 * n = sequence_length, t(b) = b^(-2p/r). The attention factor that goes with a rule is in rope_call already. */
enum rope_scaling_kind {
  ROPE_SCALING_NONE = 0,     /* t(base) */
  ROPE_SCALING_LINEAR = 1,   /* t(base) / f */
  ROPE_SCALING_NTK = 2,      /* t(base * f^(r/(r-2))); r above 2 */
  ROPE_SCALING_DYNAMIC = 3,  /* as NTK with f * max(n, L) / L - (f - 1) in the place of f; f at least 1 */
  ROPE_SCALING_YARN = 4,     /* (1 - w) t(base) + w t(base) / f. `w` rises between the pairs that turn beta_fast and
                              * beta_slow times within L: w = clamp((p - low) / (high - low), 0, 1).
                              * `pair(beta)` = r ln(L / (2 pi beta)) / (2 ln base), low = max(pair(beta_fast), 0),
                              * high = min(pair(beta_slow), yarn_clamp_pairs ? r/2 - 1 : r - 1). If yarn_truncate, low's
                              * pair is first rounded down and high's up. If low == high, high is 0.001 more */
  ROPE_SCALING_LONGROPE = 5, /* t(base) / short_factor[p] where n <= L, t(base) / long_factor[p] beyond */
  ROPE_SCALING_LLAMA3 = 6,   /* u = L t(base) / (2 pi) is the number of turns within L. u > high_freq_factor: t(base).
                              * u < low_freq_factor: t(base) / f. Between them: (1 - w) t(base) / f + w t(base), where
                              * w = (u - low_freq_factor) / (high_freq_factor - low_freq_factor). The two may be equal:
                              * then no u lies between them */
  ROPE_SCALING_PROPORTIONAL = 7, /* t(base) / f for the first floor(proportion * r/2) pairs, 0 for the others; r is
                                  * head_dim */
  ROPE_SCALING_PIXEL = 8,        /* pi (1 + (max_frequency/2 - 1) p / (r/2 - 1)); pi where r is 2. base is not used */
  ROPE_SCALING_CONSTANT = 9      /* 1 */
};

/* [batch, seq, heads, head_dim]. Strides are in elements; head_dim's stride is 1 unless ANY_STRIDES is claimed. Every
 * extent except head_dim may be 0; then there is nothing to do. Along an extent of 1 the stride may be anything. */
typedef struct rope_tensor {
  void *data;
  int32_t dtype;
  int32_t reserved;
  int64_t shape[4];
  int64_t strides[4];
} rope_tensor;

/* The position of token s of batch b on axis a is data[a*axis_stride + b*batch_stride + s*seq_stride]. If data is NULL,
 * it is offset + s on every axis, and axes is not read; rope_call's seqlen_offsets and cu_seqlens may change that.
 * Positions are 0 or more. Strides are in elements; batch_stride
 * 0 means that all batches share one row. */
typedef struct rope_positions {
  const void *data;
  int32_t dtype; /* ROPE_I32 or ROPE_I64 */
  int32_t axes;  /* 1 for text, 2 for images, 3 for M-RoPE */
  int64_t axis_stride;
  int64_t batch_stride;
  int64_t seq_stride;
  int64_t offset;
} rope_positions;

/* Row m belongs to position m. If width is rotary_dim/2, column p belongs to pair p. If width is rotary_dim, column j
 * belongs to feature rotary_offset + j. Then the two features of a pair may hold different values: that feature's
 * result uses cos[j] and sin[j], and backward is the transpose of that map. Columns are contiguous. Every row from 0 to
 * rows-1 may be read. */
typedef struct rope_table {
  const void *cos;
  const void *sin;
  int32_t dtype;
  int32_t width;
  int64_t rows;
  int64_t row_stride; /* elements; at least width, more only where STRIDED is claimed */
} rope_table;

/* Parameters that a kind does not use are 0 or NULL. */
typedef struct rope_scaling {
  int32_t kind;
  int32_t yarn_truncate;    /* 1: round the ramp's ends outwards to whole pairs */
  int32_t yarn_clamp_pairs; /* 0: upper end of the ramp is at most r-1 (Hugging Face, paper); 1: at most r/2-1 */
  int32_t reserved;
  double factor;
  double original_max_position;
  double beta_fast;
  double beta_slow;
  double low_freq_factor;
  double high_freq_factor;
  double proportion;
  double max_frequency;
  const double *short_factor; /* rotary_dim/2 values each */
  const double *long_factor;
} rope_scaling;

/* One call. If device is ROPE_CUDA, the data of tensors and positions, cos, sin, theta, axis, seqlen_offsets and
 * cu_seqlens are in that device's memory; everything else is in host memory, short_factor and long_factor too. The work
 * is queued on `stream`. apply may return before it is done; the memory stays valid until then. */
typedef struct rope_call {
  uint32_t struct_size; /* sizeof(rope_call) of the caller */
  uint32_t abi;         /* ROPE_KERNEL_ABI of the caller */
  rope_tensor q;
  rope_tensor k;      /* k.data == NULL: no k. Same dtype, batch, seq and head_dim as q */
  /* Same shape as q. In place: q_out.data == q.data, with the same dtype and strides. k_out and k are in place too, or
   * neither pair is. */
  rope_tensor q_out;
  rope_tensor k_out; /* of the dtype of q_out */
  rope_positions positions;
  int32_t rotary_dim; /* even, 2 .. head_dim */
  int32_t pairing;
  int32_t direction;
  int32_t angle_source;
  double attention_factor; /* lambda; multiplies every pair, also if tables are given */
  /* The axis of each pair, rotary_dim/2 values; NULL: axis 0. For every angle source. */
  const int32_t *axis;
  rope_table table;  /* ROPE_TABLES */
  const void *theta; /* ROPE_FREQUENCIES: rotary_dim/2 values, radians per position */
  int32_t theta_dtype; /* ROPE_F32 or ROPE_F64 */
  int32_t device;
  double base; /* ROPE_COMPUTED */
  rope_scaling scaling;
  int64_t sequence_length; /* tokens in the sequence, for rules that use it; at least the largest position + 1 */
  int32_t device_index;
  int32_t reserved;
  void *stream; /* cudaStream_t of device_index where device is ROPE_CUDA; NULL: its default stream */
  /* Appended: struct_size of an older caller ends here, and both are NULL then. Either may be given where
   * positions.data is NULL. Token s is at position start + (s - first) on every axis. `first` is the first token of its
   * sequence. `start` is positions.offset, or the sequence's value in seqlen_offsets.
   * cu_seqlens: batch is 1, and tokens cu_seqlens[i] .. cu_seqlens[i+1]-1 are sequence i. It has sequences + 1 values,
   * which rise or stay from 0 to seq: a sequence may be empty. NULL: each batch is a sequence, and starts at token 0.
   * seqlen_offsets: one value for each sequence, of seqlen_offsets_dtype; positions.offset is 0 then. */
  const void *seqlen_offsets;
  const int32_t *cu_seqlens;
  int32_t sequences;            /* of cu_seqlens or, without it, batch */
  int32_t seqlen_offsets_dtype; /* ROPE_I32 or ROPE_I64, as claimed in position_dtypes */
  /* Appended: it is 0 where struct_size ends before it. The first feature that turns: even, 0 .. head_dim - rotary_dim.
   * theta counts pairs from there on, and r stays rotary_dim. */
  int32_t rotary_offset;
  int32_t reserved2;
} rope_call;

/* The bit of an enumerator in a mask. */
#define ROPE_BIT(enumerator) (1u << (enumerator))

/* What a call may have beyond the plainest one. */
enum rope_feature {
  ROPE_FEATURE_PARTIAL = 0,             /* rotary_dim < head_dim */
  ROPE_FEATURE_POSITIONS = 1,           /* positions.data given */
  ROPE_FEATURE_BATCH_POSITIONS = 2,     /* positions differ between batches */
  ROPE_FEATURE_IN_PLACE = 3,            /* q_out is q, k_out is k */
  ROPE_FEATURE_STRIDED = 4,             /* rows of tensors, tables or positions that are not adjacent; outputs with
                                         * other strides than inputs; q and k whose rows share memory (stride 0) */
  ROPE_FEATURE_KEY = 5,                 /* q and k in one call */
  ROPE_FEATURE_GROUPED_HEADS = 6,       /* k with fewer heads than q, whose number is a multiple of k's */
  ROPE_FEATURE_BACKWARD = 7,
  ROPE_FEATURE_AXES = 8,                /* more than one position axis */
  ROPE_FEATURE_ATTENTION_FACTOR = 9,    /* attention_factor other than 1 */
  ROPE_FEATURE_UNEQUAL_HALVES = 10,     /* full-width tables whose halves differ */
  ROPE_FEATURE_OFFSET = 11,             /* positions.offset other than 0 */
  ROPE_FEATURE_ROBUST = 12,             /* a wrong call gets ROPE_INVALID_ARGUMENT, or another status than OK. Wrong: an
                                         * impossible rotary_dim, a missing tensor, a position outside the table,
                                         * shapes or types that do not match, a value outside its enumeration */
  ROPE_FEATURE_ANY_STRIDES = 13,        /* strided: also negative strides, and strides other than 1 between features */
  ROPE_FEATURE_SEQLEN_OFFSETS = 14,     /* a start for each sequence */
  ROPE_FEATURE_CU_SEQLENS = 15,         /* sequences packed into one row of tokens */
  ROPE_FEATURE_ROTARY_OFFSET = 16       /* rotary_offset other than 0; refused without PARTIAL */
};

/* How q, k and the outputs lie in memory. */
enum rope_layout {
  ROPE_LAYOUT_CONTIGUOUS = 0,  /* [batch, seq, heads, head_dim] */
  ROPE_LAYOUT_HEADS_FIRST = 1, /* [batch, heads, seq, head_dim] */
  ROPE_LAYOUT_PACKED = 2       /* each token has the heads of q, then k's, then as many of v: one product gives them */
};

/* In which order the pairs follow the axes. */
enum rope_axis_order {
  ROPE_AXES_CHUNKED = 0,     /* axis[p] never falls: Qwen2-VL */
  ROPE_AXES_INTERLEAVED = 1, /* axis[p] is p mod axes until an axis has all its pairs, then 0: Qwen3-VL */
  ROPE_AXES_SPREAD = 2,      /* 0 1 2 1 2 0 ..: next is the axis of whose pairs the smallest part is placed, but not the
                              * same twice while another is left. Of equal ones it is the first. The last pair of three
                              * axes follows axis 0, and does not count before: openPangu, Bailing */
  ROPE_AXES_OTHERS_FIRST = 3 /* 1 2 1 2 .. 0 0: the others in turn, then axis 0: ERNIE 4.5 VL */
};

/* What a kernel claims. Only claims are tested. A claimed call must not get ROPE_UNSUPPORTED. Whatever is claimed, the
 * plainest call is made: q without k, contiguous, out of place, one position axis, positions counted from an offset of
 * 0. The fields from required_features on say which of this no call has. */
typedef struct rope_capabilities {
  uint32_t out_dtypes[4];   /* [input dtype]: mask of output dtypes; 0: this input is not claimed */
  uint32_t table_dtypes;    /* mask of rope_dtype */
  uint32_t theta_dtypes;    /* mask of rope_dtype */
  uint32_t position_dtypes; /* mask of ROPE_I32, ROPE_I64 */
  uint32_t pairings;        /* mask of rope_pairing */
  uint32_t angle_sources;   /* mask of rope_angle_source */
  uint32_t half_tables;     /* 1: tables of width rotary_dim/2 */
  uint32_t full_tables;     /* 1: tables of width rotary_dim */
  uint32_t scalings;        /* mask of rope_scaling_kind */
  uint32_t features;        /* mask of rope_feature */
  uint32_t alignment;       /* of data pointers, in bytes, a power of two up to 4096; 0 or 1: any element */
  int64_t max_position;     /* largest position that is claimed */
  const int32_t *head_dims; /* the claimed head_dims; odd ones need PARTIAL. NULL: every even one */
  int32_t head_dim_count;
  int32_t device;
  /* Appended: a kernel that is built without the following fields has 0 in them. */
  uint32_t overwrites_inputs; /* 1: q and k may hold anything after a call that is not in place */
  uint32_t seq_within_rows;   /* 1: seq is at most table.rows; without tables, at most max_position + 1 */
  int32_t least_rotary_dim;   /* 0: 2 */
  int32_t theta_as_period;    /* 1: a given theta is turned into a period, 1/theta, before it is used */
  double base; /* the only base, where angles are computed; 0: every base */
  uint32_t required_features; /* mask of the claimed features that every call has: POSITIONS, IN_PLACE or KEY */
  uint32_t layouts;           /* mask of rope_layout, the only ones of q, k and outputs; STRIDED is not claimed then.
                               * 0: contiguous; where STRIDED is claimed, any */
  uint32_t axis_counts;       /* mask of the numbers of position axes: ROPE_BIT(3) if there are always three.
                               * 0: 1; where AXES is claimed, also 2 and 3 */
  uint32_t axis_orders;       /* mask of rope_axis_order, of calls with several axes; 0: all */
  uint32_t yarn_truncate;     /* mask of the values that this field of rope_scaling has: ROPE_BIT(1) if it is always 1.
                               * 0: both */
  uint32_t yarn_clamp_pairs;  /* in the same way */
  uint32_t own_attention_factor; /* 1: the kernel makes it from the rule. Where angles are computed, attention_factor is
                                  * what the rule gives. ATTENTION_FACTOR is then about tables and frequencies */
  uint32_t length_of_call;       /* 1: where angles are computed, sequence_length is the largest position + 1 */
  uint32_t compiles_each_shape;  /* 1: the first call with each shape may take as long as the first of all */
  uint32_t reserved;
} rope_capabilities;

/* A kernel, as a library exports it. */
typedef struct rope_kernel {
  uint32_t struct_size; /* sizeof(rope_kernel) of the kernel's author */
  uint32_t abi;         /* ROPE_KERNEL_ABI of the kernel's author */
  const char *name; /* at most 256 bytes, without '#', and no other kernel's */
  const char *description;
  /* Returns a rope_status. Must not keep pointers of the call, except for work that is queued on its stream. */
  int32_t (*apply)(const rope_call *call);
  rope_capabilities claims;
} rope_kernel;

/* What a shared library exports. rope_kernel_get returns NULL beyond the count. */
uint32_t rope_kernel_count(void);
const rope_kernel *rope_kernel_get(uint32_t index);
/* Optional: why this thread's last call returned ROPE_FAILED, as a sentence for reports. */
const char *rope_last_error(void);

#ifdef __cplusplus
}
#endif
#endif /* ROPE_KERNEL_H */
