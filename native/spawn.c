/*
 * Starts a child without copying the gateway first. Node's own spawn forks: the kernel copies the page tables of the
 * whole gateway, the child throws them away at once, and every page that the gateway then writes to faults. That is
 * most of what a short command costs, and it grows with the gateway. posix_spawn shares the memory until the exec.
 *
 * start(file, argv, envp, cwd, stdinOpen, onExit) gives [pid, stdin or -1, stdout, stderr], or an errno as a number when
 * nothing was started. onExit(code, signal) is called once. As with Node: sockets for output, a session and group of its
 * own, default signals, nothing else inherited.
 */
#include <errno.h>
#include <fcntl.h>
#include <node_api.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#define ARGUMENTS 6
#define STREAMS 3

/* Without a descriptor for the child (none is left, say) it is asked this often. */
#define ASK_EVERY_MS 20

/* One running child. The kernel tells its end at a descriptor, which the event loop watches like any other. */
typedef struct {
  union {
    uv_handle_t any;
    uv_poll_t poll;
    uv_timer_t timer;
  } watch;
  napi_env env;
  napi_ref on_exit;
  napi_async_context context;
  pid_t pid;
  int pidfd;
} Child;

static int open_pidfd(pid_t pid) {
  return (int)syscall(SYS_pidfd_open, pid, 0);
}

static void free_child(uv_handle_t *handle) {
  free(handle->data);
}

static void tell_exit(Child *child, int status) {
  napi_env env = child->env;
  napi_handle_scope scope;
  napi_value on_exit, global, arguments[2];
  if (napi_open_handle_scope(env, &scope) != napi_ok) return;
  napi_get_reference_value(env, child->on_exit, &on_exit);
  napi_get_global(env, &global);
  napi_create_int32(env, WIFEXITED(status) ? WEXITSTATUS(status) : 0, &arguments[0]);
  napi_create_int32(env, WIFSIGNALED(status) ? WTERMSIG(status) : 0, &arguments[1]);
  if (napi_make_callback(env, child->context, global, on_exit, 2, arguments, NULL) == napi_pending_exception) {
    napi_value thrown;
    if (napi_get_and_clear_last_exception(env, &thrown) == napi_ok) napi_fatal_exception(env, thrown);
  }
  napi_delete_reference(env, child->on_exit);
  napi_async_destroy(env, child->context);
  napi_close_handle_scope(env, scope);
}

static void reap(Child *child) {
  int status = 0;
  pid_t reaped;
  do reaped = waitpid(child->pid, &status, WNOHANG);
  while (reaped == -1 && errno == EINTR);
  if (reaped == 0) return;
  /* The loop forgets the descriptor before its number can be another file's. */
  uv_close(&child->watch.any, free_child);
  if (child->pidfd != -1) close(child->pidfd);
  tell_exit(child, status);
}

static void on_readable(uv_poll_t *poll, int status, int events) {
  (void)status;
  (void)events;
  reap(poll->data);
}

static void on_time(uv_timer_t *timer) {
  reap(timer->data);
}

static char *text_of(napi_env env, napi_value value) {
  size_t length;
  char *text;
  if (napi_get_value_string_utf8(env, value, NULL, 0, &length) != napi_ok) return NULL;
  text = malloc(length + 1);
  if (text != NULL) napi_get_value_string_utf8(env, value, text, length + 1, &length);
  return text;
}

static void free_list(char **list) {
  if (list == NULL) return;
  for (char **one = list; *one != NULL; one++) free(*one);
  free(list);
}

static char **list_of(napi_env env, napi_value value) {
  uint32_t length;
  if (napi_get_array_length(env, value, &length) != napi_ok) return NULL;
  char **list = calloc((size_t)length + 1, sizeof *list);
  for (uint32_t index = 0; list != NULL && index < length; index++) {
    napi_value element;
    napi_get_element(env, value, index, &element);
    list[index] = text_of(env, element);
    if (list[index] == NULL) {
      free_list(list);
      return NULL;
    }
  }
  return list;
}

static void close_all(int *descriptors) {
  for (int index = 0; index < STREAMS; index++) {
    if (descriptors[index] != -1) close(descriptors[index]);
    descriptors[index] = -1;
  }
}

/* Both ends are closed on exec; what the child gets are copies. Its ends block, as programs expect. */
static int open_streams(int *ours, int *theirs, bool stdin_open) {
  for (int index = 0; index < STREAMS; index++) ours[index] = theirs[index] = -1;
  for (int index = 0; index < STREAMS; index++) {
    int pair[2];
    if (index == STDIN_FILENO && !stdin_open) {
      theirs[index] = open("/dev/null", O_RDONLY | O_CLOEXEC);
      if (theirs[index] == -1) return errno;
      continue;
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == -1) return errno;
    ours[index] = pair[0];
    theirs[index] = pair[1];
  }
  return 0;
}

static int spawn_child(pid_t *pid, const char *file, char **argv, char **envp, const char *cwd, const int *theirs) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t every, none;
  int failed;
  if ((failed = posix_spawn_file_actions_init(&actions)) != 0) return failed;
  if ((failed = posix_spawnattr_init(&attributes)) != 0) {
    posix_spawn_file_actions_destroy(&actions);
    return failed;
  }
  for (int index = 0; index < STREAMS && failed == 0; index++)
    failed = posix_spawn_file_actions_adddup2(&actions, theirs[index], index);
  if (failed == 0) failed = posix_spawn_file_actions_addchdir_np(&actions, cwd);
  sigfillset(&every);
  sigemptyset(&none);
  posix_spawnattr_setsigdefault(&attributes, &every);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  if (failed == 0) failed = posix_spawn(pid, file, &actions, &attributes, argv, envp);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return failed;
}

static void watch_child(napi_env env, napi_value on_exit, Child *child) {
  uv_loop_t *loop = NULL;
  napi_value name;
  child->env = env;
  napi_create_reference(env, on_exit, 1, &child->on_exit);
  napi_create_string_utf8(env, "openclaw:child", NAPI_AUTO_LENGTH, &name);
  napi_async_init(env, NULL, name, &child->context);
  napi_get_uv_event_loop(env, &loop);
  child->pidfd = open_pidfd(child->pid);
  if (child->pidfd != -1 && uv_poll_init(loop, &child->watch.poll, child->pidfd) == 0) {
    child->watch.any.data = child;
    uv_poll_start(&child->watch.poll, UV_READABLE, on_readable);
    return;
  }
  uv_timer_init(loop, &child->watch.timer);
  child->watch.any.data = child;
  uv_timer_start(&child->watch.timer, on_time, ASK_EVERY_MS, ASK_EVERY_MS);
}

static napi_value number(napi_env env, int value) {
  napi_value result;
  napi_create_int32(env, value, &result);
  return result;
}

static napi_value start(napi_env env, napi_callback_info info) {
  size_t count = ARGUMENTS;
  napi_value arguments[ARGUMENTS], result;
  bool stdin_open = false;
  int ours[STREAMS], theirs[STREAMS];
  if (napi_get_cb_info(env, info, &count, arguments, NULL, NULL) != napi_ok || count != ARGUMENTS) return number(env, EINVAL);
  napi_get_value_bool(env, arguments[4], &stdin_open);
  char *file = text_of(env, arguments[0]);
  char **argv = list_of(env, arguments[1]);
  char **envp = list_of(env, arguments[2]);
  char *cwd = text_of(env, arguments[3]);
  Child *child = calloc(1, sizeof *child);
  int failed = open_streams(ours, theirs, stdin_open);
  if (file == NULL || argv == NULL || envp == NULL || cwd == NULL || child == NULL) failed = ENOMEM;
  if (failed == 0) failed = spawn_child(&child->pid, file, argv, envp, cwd, theirs);
  close_all(theirs);
  free(file);
  free_list(argv);
  free_list(envp);
  free(cwd);
  if (failed != 0) {
    close_all(ours);
    free(child);
    return number(env, failed);
  }
  pid_t pid = child->pid;
  watch_child(env, arguments[5], child);
  napi_create_array_with_length(env, 1 + STREAMS, &result);
  napi_set_element(env, result, 0, number(env, pid));
  for (int index = 0; index < STREAMS; index++) napi_set_element(env, result, 1 + index, number(env, ours[index]));
  return result;
}

/* False where the kernel has no descriptors for processes (before Linux 5.3, some sandboxes). */
static napi_value supported(napi_env env, napi_callback_info info) {
  napi_value result;
  int descriptor = open_pidfd(getpid());
  (void)info;
  if (descriptor != -1) close(descriptor);
  napi_get_boolean(env, descriptor != -1, &result);
  return result;
}

NAPI_MODULE_INIT() {
  napi_value function;
  napi_create_function(env, "start", NAPI_AUTO_LENGTH, start, NULL, &function);
  napi_set_named_property(env, exports, "start", function);
  napi_create_function(env, "supported", NAPI_AUTO_LENGTH, supported, NULL, &function);
  napi_set_named_property(env, exports, "supported", function);
  return exports;
}
