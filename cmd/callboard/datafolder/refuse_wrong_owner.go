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

// CheckOwner returns an error if root uses the data folder of another user. Files that root creates there would
// belong to root, and the service could not open them at its next start. A folder that does not exist passes.
func CheckOwner(data string) error {
	owner, known := folderOwner(data)
	if !known || owner == 0 || os.Geteuid() != 0 {
		return nil
	}
	return &ownerError{data, owner}
}

// ExplainPermission adds the owner of the data folder to a permission error.
func ExplainPermission(data string, err error) error {
	owner, known := folderOwner(data)
	if !errors.Is(err, fs.ErrPermission) || !known || owner == os.Geteuid() {
		return err
	}
	return fmt.Errorf("%w: %w", &ownerError{data, owner}, err)
}

// folderOwner returns the user id of a folder's owner.
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

// ownerError says that a data folder belongs to another user, with the command to run as that user.
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
