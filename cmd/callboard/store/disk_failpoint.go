//go:build failpoints

package store

import (
	"os"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// storeDisk is the disk of the embedded store. With FAILPOINT_DISK it obeys
// the file of that name: "full" says that nothing is left, "broken" fails each
// write as a disk does that filled up in the middle of one, "lying" takes
// writes, says that they are safe, and forgets them: the control.
func storeDisk() vfs.FS {
	path := os.Getenv("FAILPOINT_DISK")
	if path == "" {
		return nil
	}
	return &faultyDisk{FS: vfs.Default, path: path}
}

type faultyDisk struct {
	vfs.FS
	path string
}

func (d *faultyDisk) fault() string {
	text, _ := os.ReadFile(d.path)
	return strings.TrimSpace(string(text))
}

// Unwrap tells Pebble what lies below.
func (d *faultyDisk) Unwrap() vfs.FS { return d.FS }

// GetDiskUsage is vfs.FS's.
func (d *faultyDisk) GetDiskUsage(path string) (vfs.DiskUsage, error) {
	u, err := d.FS.GetDiskUsage(path)
	if d.fault() == "full" {
		u.AvailBytes = 0
	}
	return u, err
}

// Create is vfs.FS's.
func (d *faultyDisk) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := d.FS.Create(name, c)
	return d.wrap(f, err)
}

// ReuseForWrite is vfs.FS's.
func (d *faultyDisk) ReuseForWrite(before, name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := d.FS.ReuseForWrite(before, name, c)
	return d.wrap(f, err)
}

func (d *faultyDisk) wrap(f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return &faultyFile{File: f, disk: d}, nil
}

type faultyFile struct {
	vfs.File
	disk *faultyDisk
}

func (f *faultyFile) Write(p []byte) (int, error) {
	switch f.disk.fault() {
	case "broken":
		return 0, syscall.ENOSPC
	case "lying":
		return len(p), nil
	}
	return f.File.Write(p)
}
