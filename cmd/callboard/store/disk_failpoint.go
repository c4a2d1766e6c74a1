//go:build failpoints

package store

import (
	"os"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// storeDisk returns the file system of the embedded store. FAILPOINT_DISK names a file that contains a fault: "full"
// reports no free space, "broken" fails every write with ENOSPC, "lying" drops writes but reports success. The disk
// test must detect the lost writes of a lying disk.
func storeDisk() vfs.FS {
	path := os.Getenv("FAILPOINT_DISK")
	if path == "" {
		return nil
	}
	return &faultyDisk{FS: vfs.Default, path: path}
}

// faultyDisk is a file system with the fault that a file names.
type faultyDisk struct {
	vfs.FS
	path string
}

// fault reads the current fault from the file. It returns "" if there is none.
func (d *faultyDisk) fault() string {
	text, _ := os.ReadFile(d.path)
	return strings.TrimSpace(string(text))
}

// Unwrap returns the real file system, for Pebble.
func (d *faultyDisk) Unwrap() vfs.FS { return d.FS }

// GetDiskUsage returns the usage of the real disk, without free space if the fault is "full".
func (d *faultyDisk) GetDiskUsage(path string) (vfs.DiskUsage, error) {
	u, err := d.FS.GetDiskUsage(path)
	if d.fault() == "full" {
		u.AvailBytes = 0
	}
	return u, err
}

// Create creates a file whose writes have the current fault.
func (d *faultyDisk) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := d.FS.Create(name, c)
	return d.wrap(f, err)
}

// ReuseForWrite opens an existing file under a new name. Its writes have the current fault.
func (d *faultyDisk) ReuseForWrite(before, name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := d.FS.ReuseForWrite(before, name, c)
	return d.wrap(f, err)
}

// wrap returns a file whose writes have the fault of the disk.
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
