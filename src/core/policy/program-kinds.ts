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
const CARRIERS = set(`
  sudo sudoedit doas su runuser pkexec gosu su-exec setpriv capsh sg newgrp chroot fakeroot fakechroot faketime unshare
  nsenter lxc-attach machinectl bwrap firejail proot systemd-run systemd-nspawn systemd-inhibit run0 start-stop-daemon
  setsid chrt ionice taskset numactl setarch linux32 linux64 i386 x86_64 uname26 prlimit choom cpulimit softlimit
  cgexec schedtool setuidgid envuidgid chpst chronic ts-run with-lock-ex dotlockfile lckdo flock
  watch unbuffer xvfb-run script scriptlive expect autoexpect dejagnu runtest empty ptyrun
  torify torsocks proxychains proxychains4 tsocks catchsegv eatmydata cowbuilder pbuilder schroot dchroot debootstrap
  xargs parallel sem rush-parallel env-parallel moreutils entr watchexec watchman nodemon when-changed inotifyexec
  at batch atrun anacron run-parts fcrontab incrontab systemd-cron
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
  ansible-playbook ansible-console puppet chef-client chef-solo salt salt-call salt-ssh fab capistrano
  terragrunt pulumi nix nix-shell nix-build nix-env nix-run guix flatpak firejail-ui distrobox toolbox
  aa-exec runcon sandbox unminimize eject hdparm-run choose-mirror update-alternatives dpkg-reconfigure debconf
  cpan cpanm cpanminus gem bundle bundler rake irb pry ipython ptpython bpython jupyter jupyter-lab idle pdb
  ghci runghc runhaskell stack cabal jshell jrunscript groovysh scala-cli sbt ant lein clj boot bb babashka
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
  vlock vigr vipw visudo chfn chsh passwd
  systemd-cat systemd-socket-activate systemd-stdio-bridge systemd-ask-password systemd-mount dumb-init tini catatonit
  daemonize daemon timelimit retry nq fq tsp ts-task withlock lockrun solo cset numad inotifywait-exec
  c8 nyc cross-env cross-env-shell env-cmd start-server-and-test wait-on lint-staged lerna nx turbo wireit gulp grunt
  electron nw karma cypress playwright testcafe wdio protractor ts-node-dev node-dev supervisor ng hygen plop yo
  gunicorn uwsgi uvicorn hypercorn waitress-serve twistd celery scrapy flask django-admin nose2 behave coverage streamlit
  pyinstaller invoke inv luigi airflow sphinx-build sphinx-autobuild mkdocs jekyll hugo doxygen
  cdk cdklocal sam serverless sls kustomize skaffold tilt telepresence minikube k3s k9s lazydocker oc istioctl
  consul nomad etcdctl boundary tsh teleport vault buildah lima limactl colima multipass virsh guestfish virt-install
  virt-customize qemu-nbd skopeo umoci
  tig lazygit gitui hub hg svn svnlite cvs bzr brz darcs fossil p4 jj rclone restic borg git-annex etckeeper
  ncdu htop atop btop glances iftop nethogs powertop irssi weechat finch slrn tin gdisk fdisk cfdisk parted
  chromium chromium-browser google-chrome google-chrome-stable chrome firefox brave opera surf qutebrowser
  blender gimp inkscape soffice libreoffice lowriter localc abiword wkhtmltopdf wkhtmltoimage feh mpv mplayer vlc
  display animate import conjure identify montage composite compare stream a2ps enscript ps2pdf ps2ps pdf2ps pdf2dsc
  epstopdf dvips dvipdf dvipdfm xdvi lp lpr msmtp msmtpq dbus-send dbus-monitor
  zig swift swiftc nim nimble crystal rdmd dmd ldc2 ghc ocamlfind ocamlopt ocamlc ocamlbuild dune fpc gnatmake gnat gprbuild
  cpack bazel bazelisk buck buck2 pants please
  hive beeline impala-shell pyspark spark-submit spark-shell spark-sql flink hadoop cqlsh influx mongo clickhouse
  clickhouse-local clickhouse-client presto trino osqueryi
  zless zmore bzless bzmore xzless xzmore lzless lzmore zstdless vimtutor gdbtui not bugpoint lli llvm-jitlink
  llvm-reduce llvm-exegesis uclampset fakeroot-sysv fakeroot-tcp msgexec msgfilter pg_virtualenv pgbench prove perldoc pydoc
  jexec jdb jpackage redis-server postgres pg_ctl initdb gpg-connect-agent agetty getty login sulogin switch_root pivot_root
  rmt rmt-tar scalar ssh-argv0 dbus-daemon dbus-update-activation-environment debugfs fsck service invoke-rc.d kernel-install
  installkernel dpkg-buildpackage dpkg-source optscript sensible-browser select-editor xdg-email xdg-screensaver xdg-settings
  gio gapplication nvcc bq rpcgen valgrind.bin systemd-tmpfiles systemd-notify apt-cdrom
  reset tset`);

/** Families of them: emulators, terminals, shells and consoles of whatever product. */
const CARRIER_NAME =
  /^(?:qemu-.+|box\d+|.*terminal(?:-emulator)?|[a-z]+term|terminator|tilix|foot|ghostty|wezterm(?:-gui)?|.+-(?:shell|console|repl|sudo|exec))$/;

/** The carrier that the program is, or undefined. */
export function carrierName(names: readonly string[]): string | undefined {
  return nameIn(names, CARRIERS) ?? names.find((name) => CARRIER_NAME.test(name.toLowerCase()));
}

/** Languages whose programs can do anything a program can; version suffixes are dropped before the look-up. */
export const INTERPRETERS = set(`
  python python2 python3 pypy pypy3 node nodejs ruby perl php lua luajit lua5 Rscript R julia raku perl6 osascript tclsh
  awk gawk mawk nawk original-awk busybox-awk sed gsed ssed make gmake find jq qjs quickjs gjs njs d8 mjs dart java kotlin`);

/** Write files whose names the guard takes for local: in another directory they are somebody else's. */
export const WRITES_WHERE_IT_STANDS = set(`
  tar gtar bsdtar unzip zip gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4 unlz4
  gcc g++ cc c++ c89 c99 clang clang++ cpp gfortran`);

/** `x86_64-linux-gnu-gcc` is `gcc`. */
const TARGET_PREFIX =
  /^[a-z0-9_]+(?:-[a-z0-9_]+){1,3}-(?=(?:gcc|g\+\+|c\+\+|cc|cpp|clang|clang\+\+|gfortran|ld|ld\.\w+|gold|gdb|as|ar|strip|objcopy|ranlib|elfedit|dwp)$)/;

/** Without its version and the machine it builds for: `python3.11` is `python3`, `node-20` is `node`. */
export function programName(name: string): string {
  const unversioned = name.replace(/\.exe$/i, "").replace(/(?<=[A-Za-z+])(\d*)(?:[.-]\d+)+$/, "$1");
  return unversioned.replace(TARGET_PREFIX, "");
}

const STARTS_PROGRAMS = [SHELLS, MULTIPLEXERS, PACKAGE_RUNNERS, CARRIERS, INTERPRETERS];

/** `perl5.36-x86_64-linux-gnu`, `bash-static`, `python3-dbg`: a build of the program whose name comes first. */
const BUILD_OF =
  /^([a-z_]+)(?:\d[\w.+-]*|[\d.]*-(?:static|dbg|debug|minimal|full|bin|real|orig|cli|cgi|intel64|arm64)[\w.-]*)$/;

/**
 * The ways a name may stand in a table: as it is, in lower case (some file systems do not tell cases apart), without
 * its version, and without any number. `tclsh8.6` → `tclsh8`, `tclsh`.
 */
export function spellings(name: string): readonly string[] {
  const lower = name.toLowerCase();
  const plain = programName(lower);
  const first = BUILD_OF.exec(lower)?.[1];
  // Only what must not be missed; `ps2pdf` is not a build of `ps`.
  const build = first !== undefined && STARTS_PROGRAMS.some((kind) => kind.has(first)) ? [first] : [];
  return [...new Set([name, lower, plain, plain.replace(/-?\d+$/, ""), ...build])];
}

/** The first of the program's names that is in the set, in the spelling of the set. */
export function nameIn(names: readonly string[], kinds: ReadonlySet<string>): string | undefined {
  for (const name of names) {
    const hit = spellings(name).find((spelling) => kinds.has(spelling));
    if (hit !== undefined) return hit;
  }
  return undefined;
}
