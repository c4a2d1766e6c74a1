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
)

const (
	leastFiles  = 1024  // below it not even the listeners and a store have room
	enoughFiles = 65536 // beyond it nobody counts
	ownFiles    = 512   // of the store, the log and the listeners

	leastDisk  = 64 << 20 // below it nothing is committed
	enoughDisk = 1 << 30
)

func (d *Diagnosis) openFiles(context.Context) {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		d.report.warn("open_files", "", "the limit cannot be read: %v", err)
		return
	}
	const remedy = "LimitNOFILE=1048576 in the unit, or ulimit -n before the start"
	wanted := uint64(enoughFiles)
	if d.Config != nil { // each pair of ports is two sockets, each send one
		pairs := (int(d.Config.Media.Ports.High) - int(d.Config.Media.Ports.Low) + 1) / 2
		wanted = min(wanted, uint64(2*pairs+d.Config.WebhookSends+ownFiles)) //nolint:gosec // both are positive
	}
	switch {
	case l.Max < leastFiles:
		d.report.bad("open_files", remedy, "the process may open %d files, the least it can work with is %d", l.Max, leastFiles)
	case l.Max < wanted:
		d.report.warn("open_files", remedy, "the process may open %d files; media_ports and webhook_sends want %d", l.Max, wanted)
	default:
		d.report.ok("open_files", "the process may open %d files", l.Max)
	}
}

// speech looks for what speaks and hears where no engine does.
func (d *Diagnosis) speech(context.Context) {
	for _, p := range []struct{ check, program, without string }{
		{"espeak-ng", "espeak-ng", "agents speak only WAV files of the folder prompts, and what engines of engines_file say"},
		{"pocketsphinx", "pocketsphinx_batch", "agents hear keys, and words only by engines of engines_file"},
	} {
		if path, err := exec.LookPath(p.program); err == nil {
			d.report.ok(p.check, "%s", path)
		} else {
			d.report.warn(p.check, "apt-get install "+p.check, "%s is not installed: %s", p.program, p.without)
		}
	}
}

// folder looks at who owns the data folder and whether it can be written.
func (d *Diagnosis) folder(context.Context) {
	data := d.Config.Data
	info, err := os.Stat(data)
	switch {
	case os.IsNotExist(err):
		d.report.ok("data", "%s is not there yet: the first start makes it", data)
		return
	case err != nil:
		d.report.bad("data", "let the service's user reach it", "%v", err)
		return
	case !info.IsDir():
		d.report.bad("data_folder", "name a folder by data", "%s is no folder", data)
		return
	}
	if at, failed := filepath.Abs(data); failed == nil && (at == "/tmp" || filepath.Dir(at) == "/tmp" || at == "/dev/shm" || filepath.Dir(at) == "/dev/shm") {
		d.report.warn("data_passing", "a folder such as /var/lib/callboard", "%s lies where machines clear up", data)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		d.report.bad("data_mode", "chmod 700 "+data, "others on this machine may look into %s (%04o)", data, mode)
	}
	owner := uidOf(info)
	if name := foreignFile(data, owner); name != "" {
		d.report.bad("data_owner", fmt.Sprintf("chown -R --reference=%[1]s %[1]s, and run commands as its owner", data), "%s belongs to root, and the folder to uid %d: the service cannot use it", name, owner)
	}
	f, err := os.CreateTemp(data, ".doctor-*")
	if err != nil {
		if owner != os.Geteuid() {
			d.report.bad("data_owner", fmt.Sprintf("run as its owner: sudo -u '#%d' callboard doctor …", owner), "%s belongs to uid %d, this process runs as %d", data, owner, os.Geteuid())
		}
		d.report.bad("data_write", "let the service's user write there; a file system that is mounted read-only has had an error", "%s cannot be written: %v", data, err)
		return
	}
	_, err = f.WriteString("callboard doctor\n")
	if err == nil {
		err = f.Sync()
	}
	_ = f.Close()
	_ = os.Remove(f.Name())
	if err != nil {
		d.report.bad("data_write", "look into the kernel's log for faults of the disk", "what is written to %s is not kept: %v", data, err)
		return
	}
	d.report.ok("data", "%s can be written", data)
}

// uidOf is the user that a file belongs to.
func uidOf(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid)
	}
	return os.Geteuid()
}

// foreignFile is a file of the data folder that root has made in the folder of
// another user; empty: there is none.
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
			if info, err := f.Info(); err == nil && uidOf(info) == 0 && f.Name() != "lost+found" { // a file system's own
				return filepath.Join(folder, f.Name())
			}
		}
	}
	return ""
}

// dataFolders are the folders of the data folder that hold few files.
func dataFolders(data string) []string {
	return []string{data, filepath.Join(data, "store"), filepath.Join(data, "redis-ledger")}
}

// storeFormat looks whether a newer program has written the store.
func (d *Diagnosis) storeFormat(ctx context.Context) {
	if d.StoreFormat == nil {
		return
	}
	what, err := d.StoreFormat(ctx)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil && errors.Is(err, d.TooNew):
		d.report.bad("store_format", `docs/operations.md, "Going back to an earlier version"`, "%v", err)
	case err != nil:
		d.report.warn("store_format", "look again once the store can be read", "which version the store needs cannot be read: %v", err)
	default:
		d.report.ok("store_format", "%s", what)
	}
}

func (d *Diagnosis) disk(context.Context) {
	at := existing(d.Config.Data)
	var st unix.Statfs_t
	if err := unix.Statfs(at, &st); err != nil {
		d.report.warn("disk", "", "what is free cannot be read: %v", err)
		return
	}
	free := int64(st.Bavail) * st.Bsize //nolint:gosec // no disk is so large
	const remedy = "give it room, or shorten the retention of the workspaces"
	least := cmp.Or(d.Free, leastDisk)
	switch {
	case free < least:
		d.report.bad("disk", remedy, "%d MB are free at %s: below 64 MB nothing is committed and nobody is rung", free>>20, at)
	case free < enoughDisk:
		d.report.warn("disk", remedy, "%d MB are free at %s; a call takes 1 MB a minute while it is recorded", free>>20, at)
	default:
		d.report.ok("disk", "%d MB are free", free>>20)
	}
	if st.Files > 0 && st.Ffree < 10000 {
		d.report.warn("disk_files", "a file system with more inodes, or a shorter retention", "%s has room for %d more files", at, st.Ffree)
	}
}

// existing is a folder, or of one that is not there yet the one that it will
// lie in.
func existing(at string) string {
	for {
		if _, err := os.Stat(at); err == nil || at == filepath.Dir(at) {
			return at
		}
		at = filepath.Dir(at)
	}
}

// open says whether strangers may read a file, or others than its owner may
// write it. A group that may read it is how a key of root's is lent to a service.
func open(path string) (fs.FileMode, bool) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, false
	}
	return info.Mode().Perm(), info.Mode().Perm()&0o027 != 0
}
