/* A worker in C99 and POSIX, without a library: half_split, f32, cos and sin given. Protocol:
 * tools/worker/protocol/PROTOCOL.md
 *
 *     cc -std=c99 -O2 -o worker examples/worker.c
 *     tools/run verify cmd:./worker
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OK = 0, INVALID_ARGUMENT = 2, LONGEST_LINE = (1 << 20) + 1, LARGEST_HEAD = 4096 };
static char line[LONGEST_LINE], call[LONGEST_LINE]; /* `call` is the last one that was written out */
static int inputs, outputs;

/* The number behind `key`, looked for from `text` on. */
static long long number(const char* text, const char* key) {
  const char* at = strstr(text, key);
  return at == NULL ? -1 : strtoll(at + strlen(key), NULL, 10);
}

/* One tensor of the call: where it lies, and its extents. Absent, or a null pointer: at is -1. */
typedef struct {
  long long at, shape[4];
} tensor;
static tensor find(const char* name) {
  tensor found = {-1, {0, 0, 0, 0}};
  char key[32];
  sprintf(key, "\"name\":\"%s\"", name);
  const char* text = strstr(call, key);
  if (text == NULL) return found;
  const char* null = strstr(text, "\"null\":true");
  if (null != NULL && null < strchr(text, '}')) return found;
  long long* n = found.shape;
  sscanf(strstr(text, "\"shape\":["), "\"shape\":[%lld,%lld,%lld,%lld", n, n + 1, n + 2, n + 3);
  found.at = number(text, "\"map\":[") + number(text, "\"at\":");
  return found;
}

static int apply(void) {
  static float x[LARGEST_HEAD], y[LARGEST_HEAD], c[LARGEST_HEAD], s[LARGEST_HEAD];
  const tensor q = find("q"), q_out = find("q_out"), cos = find("cos"), sin = find("sin");
  const long long dim = q.shape[3], half = dim / 2, offset = number(call, "\"offset\":");
  if (q.at < 0 || q_out.at < 0 || cos.at < 0 || sin.at < 0 || dim < 2 || dim > LARGEST_HEAD) return INVALID_ARGUMENT;
  const int known = strstr(call, "\"half_split\"") && strstr(call, "\"forward\"") && strstr(call, "\"tables\"");
  if (!known || number(call, "\"rotary_dim\":") != dim || offset < 0) return INVALID_ARGUMENT;
  for (long long row = 0; row < q.shape[0] * q.shape[1] * q.shape[2]; ++row) { /* no strides are claimed */
    const off_t position = offset + row / q.shape[2] % q.shape[1], bytes = dim * (off_t)sizeof(float);
    if (position >= cos.shape[0] || pread(inputs, x, (size_t)bytes, q.at + row * bytes) != bytes ||
        pread(inputs, c, (size_t)bytes / 2, cos.at + position * bytes / 2) != bytes / 2 ||
        pread(inputs, s, (size_t)bytes / 2, sin.at + position * bytes / 2) != bytes / 2)
      return INVALID_ARGUMENT;
    for (long long p = 0; p < half; ++p) {
      y[p] = x[p] * c[p] - x[p + half] * s[p];
      y[p + half] = x[p + half] * c[p] + x[p] * s[p];
    }
    if (pwrite(outputs, y, (size_t)bytes, q_out.at + row * bytes) != bytes) return INVALID_ARGUMENT;
  }
  return OK;
}

int main(void) {
  const char* given = getenv("ROPECHECK_WORKER");
  if (given == NULL) return fprintf(stderr, "worker: ropecheck starts this program; see its first lines\n"), 2;
  inputs = (int)number(given, "inputs=");
  outputs = (int)number(given, "outputs=");
  FILE* in = fdopen((int)number(given, "protocol="), "r");
  FILE* out = fdopen(dup((int)number(given, "protocol=")), "w");
  fprintf(out,
          "{\"v\":1,\"op\":\"hello\",\"name\":\"worker\",\"kind\":\"c\","
          "\"claims\":{\"dtypes\":{\"f32\":[\"f32\"]},\"tables\":[\"f32\"],\"pairings\":[\"half_split\"],"
          "\"sources\":[\"tables\"],\"half_tables\":true,\"features\":[\"offset\"],\"max_position\":2147483647}}\n");
  while (fflush(out) == 0 && fgets(line, sizeof line, in) != NULL && strstr(line, "\"op\":\"call\"") != NULL) {
    if (strstr(line, "\"attrs\"") != NULL) strcpy(call, line); /* else the last one again, on other numbers */
    fprintf(out, "{\"id\":%lld,\"ok\":true,\"status\":%d}\n", number(line, "\"id\":"), apply());
  }
  return 0;
}
