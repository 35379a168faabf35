/* What the hostile kernels do, and when. Each deed returns the status of the call, if it returns. */
#ifndef ROPECHECK_HOSTILE_DEEDS_H
#define ROPECHECK_HOSTILE_DEEDS_H

#include "impls/include/rope_kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

int32_t right(const rope_call* c);

/* When: in the first call; in the third; in a thread of the call; in a signal's handler; when the process ends. */
#define EVERYWHERE(DO, deed) DO(deed, first) DO(deed, later) DO(deed, in_thread) DO(deed, in_handler) DO(deed, at_exit)
#define IN_CALLS(DO, deed) DO(deed, first) DO(deed, later) DO(deed, in_thread)
#define TWICE(DO, deed) DO(deed, first) DO(deed, later)
#define ONCE(DO, deed) DO(deed, first)

#define MEMORY_DEEDS(DO)           \
  EVERYWHERE(DO, null_write)       \
  EVERYWHERE(DO, write_code)       \
  EVERYWHERE(DO, jump_null)        \
  EVERYWHERE(DO, stack_overflow)   \
  EVERYWHERE(DO, double_free)      \
  EVERYWHERE(DO, smash_heap)       \
  IN_CALLS(DO, write_past_end)     \
  IN_CALLS(DO, write_before_start) \
  IN_CALLS(DO, write_far_past)     \
  IN_CALLS(DO, write_input)        \
  IN_CALLS(DO, write_positions)    \
  IN_CALLS(DO, write_table)        \
  TWICE(DO, jump_into_input)       \
  TWICE(DO, smash_frames)          \
  TWICE(DO, free_tensor)           \
  TWICE(DO, unmap_output)          \
  TWICE(DO, unmap_input)           \
  TWICE(DO, unmap_libraries)       \
  TWICE(DO, unprotect_input)       \
  TWICE(DO, protect_output)        \
  TWICE(DO, replace_output)

#define CONTROL_DEEDS(DO)             \
  EVERYWHERE(DO, divide_by_zero)      \
  EVERYWHERE(DO, illegal_instruction) \
  EVERYWHERE(DO, trap)                \
  EVERYWHERE(DO, breakpoint)          \
  EVERYWHERE(DO, abort_process)       \
  IN_CALLS(DO, exit_0)                \
  IN_CALLS(DO, exit_3)                \
  IN_CALLS(DO, exit_at_once)          \
  ONCE(DO, exit_quickly)              \
  ONCE(DO, exit_thread)               \
  TWICE(DO, become_other_program)     \
  TWICE(DO, raise_kill)               \
  TWICE(DO, raise_term)               \
  ONCE(DO, raise_int)                 \
  ONCE(DO, raise_hup)                 \
  ONCE(DO, raise_quit)                \
  ONCE(DO, raise_segv)                \
  ONCE(DO, raise_bus)                 \
  ONCE(DO, raise_pipe)                \
  ONCE(DO, raise_alarm)               \
  ONCE(DO, raise_user)                \
  ONCE(DO, raise_cpu_limit)           \
  ONCE(DO, raise_size_limit)          \
  ONCE(DO, raise_bad_call)            \
  ONCE(DO, raise_real_time)           \
  TWICE(DO, kill_group)               \
  ONCE(DO, kill_parent)               \
  ONCE(DO, stop_parent)               \
  TWICE(DO, stop_itself)              \
  TWICE(DO, endless)                  \
  ONCE(DO, endless_without_signals)   \
  ONCE(DO, sleep_long)                \
  ONCE(DO, deadlock)                  \
  ONCE(DO, alarm_while_endless)       \
  ONCE(DO, handle_own_crash)          \
  ONCE(DO, repeat_own_crash)          \
  ONCE(DO, ignore_signals_and_crash)  \
  ONCE(DO, jump_long)                 \
  TWICE(DO, round_upwards)            \
  TWICE(DO, flush_to_zero)            \
  TWICE(DO, trap_on_inexact)          \
  TWICE(DO, status_4)                 \
  ONCE(DO, status_minus_1)            \
  ONCE(DO, status_2_16)               \
  ONCE(DO, status_least)              \
  TWICE(DO, unsupported)              \
  ONCE(DO, invalid_argument)          \
  ONCE(DO, failed)                    \
  ONCE(DO, do_nothing)                \
  TWICE(DO, throw_number)             \
  TWICE(DO, throw_no_memory)          \
  ONCE(DO, throw_nested)              \
  ONCE(DO, throw_while_thrown)

#define RESOURCE_DEEDS(DO)        \
  TWICE(DO, close_all)            \
  TWICE(DO, close_above_2)        \
  TWICE(DO, write_to_every_file)  \
  ONCE(DO, answer_itself)         \
  ONCE(DO, answer_deep)           \
  ONCE(DO, answer_endlessly)      \
  ONCE(DO, read_every_file)       \
  ONCE(DO, shut_down_sockets)     \
  ONCE(DO, replace_every_file)    \
  TWICE(DO, shrink_every_file)    \
  TWICE(DO, grow_every_file)      \
  TWICE(DO, seal_every_file)      \
  TWICE(DO, reopen_every_file)    \
  ONCE(DO, punch_every_file)      \
  ONCE(DO, open_many_files)       \
  ONCE(DO, flood_stdout)          \
  ONCE(DO, flood_stderr)          \
  TWICE(DO, fork_some)            \
  ONCE(DO, fork_and_both_return)  \
  ONCE(DO, leave_daemon)          \
  ONCE(DO, leave_daemon_and_die)  \
  ONCE(DO, leave_endless_thread)  \
  ONCE(DO, leave_many_threads)    \
  ONCE(DO, crash_in_thread_later) \
  ONCE(DO, allocate_without_end)  \
  ONCE(DO, limit_memory)          \
  ONCE(DO, limit_files)           \
  ONCE(DO, limit_stack)           \
  ONCE(DO, limit_file_size)       \
  ONCE(DO, allow_few_calls)       \
  ONCE(DO, leave_folder)          \
  ONCE(DO, clear_environment)     \
  ONCE(DO, fill_scratch_folder)   \
  ONCE(DO, lock_scratch_folder)   \
  ONCE(DO, leave_session)

#define ALL_DEEDS(DO) MEMORY_DEEDS(DO) CONTROL_DEEDS(DO) RESOURCE_DEEDS(DO)

#define DECLARE(deed, moment) int32_t deed(const rope_call* c);
ALL_DEEDS(DECLARE)
#undef DECLARE

#ifdef __cplusplus
}
#endif
#endif
