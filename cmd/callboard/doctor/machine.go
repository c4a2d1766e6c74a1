package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/callboard/callboard/media/vad"
	"github.com/callboard/callboard/media/vad/silero"
)

const (
	minOpenFiles        = 1024  // fewer do not suffice for the listeners and a store
	sufficientOpenFiles = 65536 // enough for any configuration
	reservedOpenFiles   = 512   // for the store, the log and the listeners

	minFreeDisk = 64 << 20 // the service commits nothing below this number of free bytes
	lowFreeDisk = 1 << 30
)

func (d *Diagnosis) checkOpenFiles(context.Context) {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		d.report.warn("open_files", "", "the limit cannot be read: %v", err)
		return
	}
	const remedy = "set LimitNOFILE=1048576 in the unit, or ulimit -n before the start"
	wanted := uint64(sufficientOpenFiles)
	if d.Config != nil { // each port pair has two sockets, each webhook request one
		pairs := (int(d.Config.Media.Ports.High) - int(d.Config.Media.Ports.Low) + 1) / 2
		wanted = min(wanted, uint64(2*pairs+d.Config.WebhookSends+reservedOpenFiles)) //nolint:gosec // both are positive
	}
	switch {
	case l.Max < minOpenFiles:
		d.report.bad("open_files", remedy, "the process can open %d files; the minimum is %d", l.Max, minOpenFiles)
	case l.Max < wanted:
		d.report.warn("open_files", remedy, "the process can open %d files; media_ports and webhook_sends require %d", l.Max, wanted)
	default:
		d.report.ok("open_files", "the process can open %d files", l.Max)
	}
}

// checkSpeechDetection checks whether the neural network that detects callers' speech can be used, and how fast.
func (d *Diagnosis) checkSpeechDetection(context.Context) {
	switch _, err := vad.NewNeural(); {
	case err != nil:
		d.report.warn("speech_detection", "install a released binary", "the neural network cannot be read, speech is detected by its level: %v", err)
	case silero.Accelerated():
		d.report.ok("speech_detection", "neural network, with AVX2: about 1 ms of CPU per second of a call")
	default:
		d.report.ok("speech_detection", "neural network, without AVX2: about 7 ms of CPU per second of a call")
	}
}

// checkSpeechPrograms checks whether the programs of the local speech engines, espeak-ng and pocketsphinx, are installed.
func (d *Diagnosis) checkSpeechPrograms(context.Context) {
	for _, p := range []struct{ check, program, without string }{
		{"espeak-ng", "espeak-ng", "agents can speak only with WAV files of the folder prompts and with engines of engines_file"},
		{"pocketsphinx", "pocketsphinx_batch", "agents recognize DTMF, and speech only with engines of engines_file"},
	} {
		if path, err := exec.LookPath(p.program); err == nil {
			d.report.ok(p.check, "%s", path)
		} else {
			d.report.warn(p.check, "apt-get install "+p.check, "%s is not installed: %s", p.program, p.without)
		}
	}
}

// checkDataFolder checks the owner and the permissions of the data folder, and whether it is writable.
func (d *Diagnosis) checkDataFolder(context.Context) {
	data := d.Config.Data
	info, err := os.Stat(data)
	switch {
	case os.IsNotExist(err):
		d.report.ok("data", "%s does not exist yet: the first start creates it", data)
		return
	case err != nil:
		d.report.bad("data", "give the service's user access to the data folder", "%v", err)
		return
	case !info.IsDir():
		d.report.bad("data_folder", "set data to a folder", "%s is not a folder", data)
		return
	}
	if at, failed := filepath.Abs(data); failed == nil && (at == "/tmp" || filepath.Dir(at) == "/tmp" || at == "/dev/shm" || filepath.Dir(at) == "/dev/shm") {
		d.report.warn("data_temporary", "use a folder such as /var/lib/callboard", "%s is in a temporary folder, which the system may clean", data)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		d.report.bad("data_mode", "chmod 700 "+data, "other users of this machine can read or change %s (%04o)", data, mode)
	}
	owner := uidOf(info)
	if name := foreignFile(data, owner); name != "" {
		d.report.bad("data_owner", fmt.Sprintf("chown -R --reference=%[1]s %[1]s, and run commands as the owner", data), "%s belongs to root and the data folder to uid %d: the service cannot use the file", name, owner)
	}
	f, err := os.CreateTemp(data, ".doctor-*")
	if err != nil {
		if owner != os.Geteuid() {
			d.report.bad("data_owner", fmt.Sprintf("run the command as the owner: sudo -u '#%d' callboard doctor …", owner), "%s belongs to uid %d, this process runs as %d", data, owner, os.Geteuid())
		}
		d.report.bad("data_write", "give the service's user write permission; a file system that is mounted read-only after an error needs repair", "%s cannot be written: %v", data, err)
		return
	}
	_, err = f.WriteString("callboard doctor\n")
	if err == nil {
		err = f.Sync()
	}
	_ = f.Close()
	_ = os.Remove(f.Name())
	if err != nil {
		d.report.bad("data_write", "check the kernel log for disk errors", "data written to %s is not stored: %v", data, err)
		return
	}
	d.report.ok("data", "%s is writable", data)
}

// uidOf returns the user id of a file's owner.
func uidOf(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid)
	}
	return os.Geteuid()
}

// foreignFile returns the path of a file that belongs to root in the data folder of another user. Empty if there is
// no such file.
func foreignFile(data string, owner int) string {
	if owner == 0 {
		return ""
	}
	for _, folder := range dataFolders(data) {
		files, err := os.ReadDir(folder)
		if err != nil {
			continue
		}
		for _, f := range files {
			if info, err := f.Info(); err == nil && uidOf(info) == 0 && f.Name() != "lost+found" { // every file system creates lost+found
				return filepath.Join(folder, f.Name())
			}
		}
	}
	return ""
}

// dataFolders returns the data folder and the subfolders that hold few files, so that listing them is fast.
func dataFolders(data string) []string {
	return []string{data, filepath.Join(data, "store"), filepath.Join(data, "redis-ledger")}
}

// checkStoreFormat checks whether this program knows the format of the store.
func (d *Diagnosis) checkStoreFormat(ctx context.Context) {
	if d.ReadStoreFormat == nil {
		return
	}
	what, err := d.ReadStoreFormat(ctx)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil && errors.Is(err, d.UnknownFormatError):
		d.report.bad("store_format", `docs/operations.md, "Going back to an earlier version"`, "%v", err)
	case err != nil:
		d.report.warn("store_format", "repeat the check when the store is available", "the format of the store cannot be read: %v", err)
	default:
		d.report.ok("store_format", "%s", what)
	}
}

func (d *Diagnosis) checkFreeDisk(context.Context) {
	at := nearestExistingFolder(d.Config.Data)
	var st unix.Statfs_t
	if err := unix.Statfs(at, &st); err != nil {
		d.report.warn("disk", "", "the free disk space cannot be read: %v", err)
		return
	}
	free := int64(st.Bavail) * st.Bsize //nolint:gosec // no disk is so large
	const remedy = "free disk space, or shorten the retention of the workspaces"
	least := cmp.Or(d.MinFreeDisk, minFreeDisk)
	switch {
	case free < least:
		d.report.bad("disk", remedy, "%d MB are free at %s: below 64 MB Callboard commits nothing and places no calls", free>>20, at)
	case free < lowFreeDisk:
		d.report.warn("disk", remedy, "%d MB are free at %s; a recorded call takes 1 MB per minute", free>>20, at)
	default:
		d.report.ok("disk", "%d MB are free", free>>20)
	}
	if st.Files > 0 && st.Ffree < 10000 {
		d.report.warn("disk_files", "use a file system with more inodes, or a shorter retention", "%s has inodes for only %d more files", at, st.Ffree)
	}
}

// nearestExistingFolder returns the path, or its nearest ancestor that exists.
func nearestExistingFolder(at string) string {
	for {
		if _, err := os.Stat(at); err == nil || at == filepath.Dir(at) {
			return at
		}
		at = filepath.Dir(at)
	}
}

// checkFileAccess returns the permissions of a file. The second result is true if other users can access the file or
// its group can write it. Group read access is permitted: root can thus give a service access to a key.
func checkFileAccess(path string) (fs.FileMode, bool) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, false
	}
	return info.Mode().Perm(), info.Mode().Perm()&0o027 != 0
}
