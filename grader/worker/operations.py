"""The operations of torch's dispatcher from which a learner builds a formula, by group.

An exercise that forbids ready-made functions allows some of these groups and no other operation, so that ready-made
functions which its author did not think of are forbidden too. The names are those of the dispatcher, without the
underscore of the in-place forms.
"""

import functools

GROUPS: dict[str, frozenset[str]] = {
    name: frozenset(words.split())
    for name, words in {
        "arithmetic": """
            add sub rsub mul div floor_divide remainder fmod pow float_power square sqrt rsqrt reciprocal neg positive
            abs sign sgn signbit copysign exp exp2 expm1 log log2 log10 log1p logaddexp logaddexp2 xlogy ldexp
            floor ceil round trunc frac maximum minimum fmax fmin clamp clamp_min clamp_max clip nan_to_num
            addcmul addcdiv lerp hypot heaviside where masked_fill sigmoid logit tanh sinh cosh sin cos tan
            asin acos atan atan2 asinh acosh atanh erf erfc relu softplus log_sigmoid_forward hardtanh threshold
            special_expit special_log1p special_expm1 special_exp2 special_xlog1py
            conj_physical real imag __lshift__ __rshift__
        """,
        "comparison": """
            eq ne lt le gt ge equal isclose isnan isinf isfinite isposinf isneginf isin any all
            logical_and logical_or logical_xor logical_not bitwise_and bitwise_or bitwise_xor bitwise_not
            __and__ __or__ __xor__ __iand__ __ior__ __ixor__
        """,
        "reduction": """
            sum nansum mean nanmean prod cumsum cumprod amax amin aminmax max min argmax argmin
            cummax cummin _cummax_helper _cummin_helper std var std_mean var_mean median nanmedian kthvalue
            sort topk argsort msort count_nonzero norm linalg_vector_norm trace
            index_add scatter_add scatter_reduce index_reduce segment_reduce
        """,
        "indexing": """
            view reshape _reshape_alias _unsafe_view expand expand_as permute transpose t movedim squeeze unsqueeze
            flatten unflatten select slice narrow unbind split split_with_sizes chunk unsafe_split unsafe_chunk
            unsafe_split_with_sizes tensor_split diagonal diag diag_embed unfold as_strided alias detach lift lift_fresh
            view_as view_as_real view_as_complex _conj _neg_view resolve_conj resolve_neg
            index _unsafe_index index_select gather take masked_select nonzero nonzero_static
            index_put _index_put_impl _unsafe_index_put index_copy index_fill scatter masked_scatter put
            slice_scatter select_scatter diagonal_scatter as_strided_scatter flip roll rot90
            view_copy expand_copy permute_copy transpose_copy t_copy squeeze_copy unsqueeze_copy select_copy
            slice_copy unbind_copy split_copy split_with_sizes_copy diagonal_copy as_strided_copy alias_copy detach_copy
            unique_dim _unique2 unique_consecutive
        """,
        "creation": """
            empty empty_like empty_strided new_empty new_empty_strided empty_permuted zeros zeros_like new_zeros
            ones ones_like new_ones full full_like new_full scalar_tensor arange linspace logspace eye
            tril triu tril_indices triu_indices clone contiguous copy _copy_from _to_copy cat stack repeat
            repeat_interleave constant_pad_nd fill zero one_hot block_diag _efficientzerotensor
            resize set _assert_async _assert_scalar _assert_tensor_metadata
        """,
        "reading": "_local_scalar_dense item is_nonzero",
        "softmax": """
            softmax log_softmax _softmax _log_softmax _safe_softmax logsumexp logcumsumexp _logcumsumexp
        """,
        "gradients": """
            _softmax_backward_data _log_softmax_backward_data slice_backward select_backward unfold_backward
            value_selecting_reduction_backward diagonal_backward index_select_backward trace_backward
        """,
        "products": """
            dot vdot mm mv bmm addmm addmv addbmm baddbmm addr matmul linear ger outer
            inner einsum tensordot kron chain_matmul bilinear linalg_vecdot linalg_matmul linalg_multi_dot
        """,
    }.items()
}
# Functions that torch decomposes before its dispatcher sees them, and that are only another spelling of one of these
# operations. All other functions that torch decomposes (losses, distances, integrals) count as ready-made.
SPELLINGS = frozenset(
    """
    outer ger absolute arccos arccosh arcsin arcsinh arctan arctan2 arctanh subtract multiply divide true_divide
    negative fix relu6 greater greater_equal less less_equal not_equal isreal log_sigmoid special_erf
    special_erfc special_logit special_round special_xlogy diff frobenius_norm linalg_norm atleast_1d atleast_2d
    atleast_3d broadcast_tensors broadcast_to column_stack concat concatenate hstack vstack dstack row_stack
    hsplit vsplit dsplit fill_diagonal diagflat fliplr flipud meshgrid cartesian_prod combinations moveaxis
    swapaxes swapdims adjoint mH mT matrix_H numpy_T ravel reshape_as take_along_dim tile argwhere nonzero_numpy
    linalg_diagonal sum_to_size pad pad_sequence rand randn unravel_index conj coalesce to_dense data set_data
    to type_as pin_memory dim size stride numel storage_offset sym_size sym_stride sym_numel sym_storage_offset
    sym_is_contiguous get_device result_type promote_types can_cast requires_grad retain_grad retains_grad
    output_nr is_complex is_conj is_contiguous is_floating_point is_inference is_leaf is_neg is_signed _version
    _shape_as_tensor _cast_Byte _cast_Char _cast_Double _cast_Float _cast_Half _cast_Int _cast_Long _cast_Short
    """.split()  # noqa: SIM905
)


def allowed(groups: tuple[str, ...] | list[str]) -> frozenset[str]:
    """The names of all operations of some groups. Raises KeyError where there is no such group."""
    return frozenset().union(*(GROUPS[name] for name in groups))


@functools.lru_cache(4096)
def plain(name: str) -> str:
    """The name of an operation without its namespace and in-place form: "exp" for "aten::exp_".

    An operation that is not torch's own keeps the name of its library.
    """
    name = name.removeprefix("aten::")
    return name if name.endswith("__") else name.removesuffix("_")
