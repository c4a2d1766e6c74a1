package datafolder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// CheckOwner refuses a data folder that this process would harm or cannot use.
// Files that root leaves in the folder of a service belong to root: the service,
// which runs as its own user, would not start any more. A folder that is not
// there yet becomes that of whoever makes it.
func CheckOwner(data string) error {
	owner, known := folderOwner(data)
	if !known || owner == 0 || os.Geteuid() != 0 {
		return nil
	}
	return &ownerError{data, owner}
}

// ExplainPermission adds to an error of reading or writing in the data folder who may
// do so.
func ExplainPermission(data string, err error) error {
	owner, known := folderOwner(data)
	if !errors.Is(err, fs.ErrPermission) || !known || owner == os.Geteuid() {
		return err
	}
	return fmt.Errorf("%w: %w", &ownerError{data, owner}, err)
}

// folderOwner is the user that a folder belongs to.
func folderOwner(path string) (uid int, known bool) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(st.Uid), true
}

// ownerError says that a data folder is for another user, and how to become that.
type ownerError struct {
	data  string
	owner int
}

func (e *ownerError) Error() string {
	name := "#" + strconv.Itoa(e.owner)
	if u, err := user.LookupId(strconv.Itoa(e.owner)); err == nil {
		name = u.Username
	}
	return fmt.Sprintf("--data %s belongs to the user %s, and this process runs as user %d: run the command as that user, sudo -u '%s' %s …",
		e.data, name, os.Geteuid(), name, filepath.Base(os.Args[0]))
}
