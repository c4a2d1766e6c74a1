package main

import (
	"bufio"
	"bytes"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// dropPages gives back the pages of our own file that are mapped only to be
// read, its code and its tables: the start runs through most of them once, and
// the kernel maps them by up to 2 MB. What is used again comes back from the
// page cache, without a read of the disk. It answers how many bytes were looked
// through.
func dropPages() (dropped uint64) {
	self, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return 0
	}
	table, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return 0
	}
	for _, m := range readOnly(table, self) {
		if _, _, failed := unix.Syscall(unix.SYS_MADVISE, m.from, m.size, unix.MADV_DONTNEED); failed == 0 {
			dropped += uint64(m.size)
		}
	}
	return dropped
}

// mapping is a range of addresses.
type mapping struct{ from, size uintptr }

// readOnly finds in a table as of /proc/self/smaps where a file is mapped
// without a right to write. A mapping that has pages of its own is left out:
// what a loader has written into it is not in the file.
func readOnly(table []byte, file string) (found []mapping) {
	var at mapping // of the file; zero: of another one
	lines := bufio.NewScanner(bytes.NewReader(table))
	for lines.Scan() {
		f := strings.Fields(lines.Text()) // from-to rights offset device inode path; or Name: n kB
		switch {
		case len(f) == 3 && f[0] == "Anonymous:" && f[1] == "0" && at.size > 0:
			found = append(found, at)
		case len(f) >= 5 && strings.Contains(f[0], "-"):
			at = mapping{}
			first, last, _ := strings.Cut(f[0], "-")
			from, err := strconv.ParseUint(first, 16, 64)
			to, err2 := strconv.ParseUint(last, 16, 64)
			if err == nil && err2 == nil && to > from && len(f) == 6 && f[5] == file && strings.HasPrefix(f[1], "r-") {
				at = mapping{uintptr(from), uintptr(to - from)}
			}
		}
	}
	return found
}
