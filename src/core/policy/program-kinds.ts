/**
 * Programs by what they are for, as closed sets of names (spec: policy.md 6, shell-analysis.md 4.7). A name counts
 * whether it was typed, found or reached through a symlink, with version suffixes dropped.
 */

const set = (names: string): ReadonlySet<string> => new Set(names.split(/\s+/).filter((name) => name !== ""));

/** Read a program text from `-c`, a file or their input. */
export const SHELLS = set(`
  sh bash dash ash zsh ksh ksh93 mksh lksh pdksh oksh loksh yash fish rbash rzsh rksh posh bosh
  csh tcsh osh ysh oil nu nushell elvish xonsh ion murex es rc scsh rush hush sash wish tclsh jimsh
  cmd cmd.exe powershell powershell.exe pwsh`);

/** One file that is many programs. */
export const MULTIPLEXERS = set("busybox toybox box coreutils coreutils.real uutils ubox dropbearmulti");

/**
 * Files that act by the name they are called under: `pkill` is a link to `pgrep`. The link, not the file behind it, is
 * what a rule or a grant for such a program is about.
 */
export const MULTI_CALL = set(`
  busybox toybox box coreutils uutils pgrep xz bzip2 gzip zstd lz4 systemctl kmod lvm dpkg-deb mtools perl-multi btrfs
  nvim vim.basic vim.tiny vim.nox dropbearmulti multicall crunchgen`);

/** May fetch a package and run it. */
export const PACKAGE_RUNNERS = set("npx bunx pnpx pnpm-dlx yarn-dlx corepack uvx pipx uv poetry pdm hatch rye tox nox");

/**
 * Exist to start other programs, to give a prompt from which programs can be started, or to change who a program runs
 * as. Listing one does not say what it may start: only a rule that fixes the arguments does.
 */
export const CARRIERS = set(`
  sudo sudoedit doas su runuser pkexec gosu su-exec setpriv capsh sg newgrp chroot fakeroot fakechroot faketime unshare
  nsenter lxc-attach machinectl bwrap firejail proot systemd-run systemd-nspawn systemd-inhibit run0 start-stop-daemon
  setsid chrt ionice taskset numactl setarch linux32 linux64 i386 x86_64 uname26 prlimit choom cpulimit softlimit
  cgexec schedtool setuidgid envuidgid chpst chronic ts-run with-lock-ex dotlockfile lckdo flock
  watch unbuffer xvfb-run script scriptlive expect autoexpect dejagnu runtest empty ptyrun
  torify torsocks proxychains proxychains4 tsocks catchsegv eatmydata cowbuilder pbuilder schroot dchroot debootstrap
  xargs parallel sem rush-parallel env-parallel moreutils entr watchexec watchman nodemon when-changed inotifyexec
  at batch atrun crontab anacron run-parts fcrontab incrontab systemd-cron
  ssh slogin autossh mosh dbclient plink sshpass scp sftp rsh rlogin rexec rcp telnet ftp lftp ncftp tnftp
  nc ncat netcat nc.openbsd nc.traditional socat socks websocat pwncat chisel
  tmux screen dtach abduco zellij byobu reptyr dvtm
  ed red ex vi vim view vimdiff rvim rview gvim nvim vim.basic vim.tiny vim.nox nvi elvis vile nano rnano pico micro
  emacs emacsclient jed joe jmacs jstar kak helix hx mcedit mc code ed.gnu sensible-editor editor
  less more most pg man mandb apropos-exec info pinfo pager sensible-pager lesspipe lv w3m lynx links elinks
  gdb gdbserver lldb strace ltrace perf valgrind rr bpftrace stap dtrace dtruss truss ktrace uftrace heaptrack hyperfine
  memusage sotruss pldd gcore crash pstack ld.so ld-linux.so ld-linux-x86-64.so ld-linux-aarch64.so ld-musl ld
  mail mailx mutt neomutt alpine pine sendmail procmail maildrop fetchmail
  ranger nnn vifm lf fzf sk dialog whiptail zenity rofi dmenu rlwrap rlfe ftp.netkit
  tcpdump tshark dumpcap nmap masscan ettercap bettercap msfconsole aircrack-ng
  psql mysql mariadb sqlite3 sqlite mongosh mongo redis-cli isql sqlcmd usql litecli pgcli mycli sqlplus duckdb
  docker-compose podman-compose nerdctl ctr crictl runc crun lxc lxd incus vagrant packer ansible
  ansible-playbook ansible-console puppet chef-client chef-solo salt salt-call salt-ssh fab capistrano terraform
  terragrunt pulumi nix nix-shell nix-build nix-env nix-run guix flatpak snap firejail-ui distrobox toolbox
  aa-exec runcon sandbox unminimize eject hdparm-run choose-mirror update-alternatives dpkg-reconfigure debconf
  cpan cpanm cpanminus gem bundle bundler rake irb pry ipython ptpython bpython jupyter jupyter-lab idle pdb
  ghci runghc runhaskell stack cabal jshell jrunscript groovysh scala-cli sbt gradle ant lein clj boot bb babashka
  iex mix elixir rebar3 erl escript gforth octave maxima gnuplot sage bc-exec dc swipl gprolog clisp sbcl ecl guile racket
  ts-node tsx jiti esno vite-node zx swc-node babel-node coffee deno bun
  qemu-system-x86_64 qemu-x86_64 qemu-img wine wine64 mono box64 fex dosbox
  logrotate logsave multitime tcpserver inetd xinetd stunnel socklog svlogd runsv runsvdir s6-svscan execlineb
  dbus-run-session dbus-launch gdbus busctl xdg-open open xterm rxvt urxvt alacritty kitty gnome-terminal konsole
  startx xinit openvt dosystem ssh-agent ssh-copy-id keychain gpg-agent
  trace-cmd ltt lttng unsquashfs-exec checkinstall strip-nondeterminism fusermount mount umount losetup
  insmod modprobe kexec reboot shutdown poweroff halt init telinit
  cobc cancel-exec cdist pexec pssh pdsh dsh clush mpirun mpiexec srun sbatch salloc qsub
  caffeinate sandbox-exec launchctl envdir direnv dotenv mise chokidar concurrently onchange npm-run-all run-s run-p pm2 forever
  supervisord unison lsyncd rsnapshot duplicity sshfs ocaml utop conda mamba micromamba pipenv aws-vault chamber doppler
  infisical teller envconsul
  vlock vigr vipw visudo chfn chsh passwd`);

/** Languages whose programs can do anything a program can; version suffixes are dropped before the look-up. */
export const INTERPRETERS = set(`
  python python2 python3 pypy pypy3 node nodejs ruby perl php lua luajit lua5 Rscript R julia raku perl6 osascript tclsh
  awk gawk mawk nawk original-awk busybox-awk sed gsed ssed make gmake find jq qjs quickjs gjs njs d8 mjs dart java kotlin`);

/** `x86_64-linux-gnu-gcc` is `gcc`. */
const TARGET_PREFIX = /^[a-z0-9_]+(?:-[a-z0-9_]+){1,3}-(?=(?:gcc|g\+\+|c\+\+|cc|cpp|clang|clang\+\+|ld|gdb)$)/;

/** Without its version and the machine it builds for: `python3.11` is `python3`, `node-20` is `node`. */
export function programName(name: string): string {
  const unversioned = name.replace(/\.exe$/i, "").replace(/(?<=[A-Za-z+])(\d*)(?:[.-]\d+)+$/, "$1");
  return unversioned.replace(TARGET_PREFIX, "");
}

/**
 * The ways a name may stand in a table: as it is, in lower case (some file systems do not tell cases apart), without
 * its version, and without any number. `tclsh8.6` → `tclsh8`, `tclsh`.
 */
export function spellings(name: string): readonly string[] {
  const lower = name.toLowerCase();
  const plain = programName(lower);
  return [...new Set([name, lower, plain, plain.replace(/-?\d+$/, "")])];
}

/** The first of the program's names that is in the set, in the spelling of the set. */
export function nameIn(names: readonly string[], kinds: ReadonlySet<string>): string | undefined {
  for (const name of names) {
    const hit = spellings(name).find((spelling) => kinds.has(spelling));
    if (hit !== undefined) return hit;
  }
  return undefined;
}
