package datafolder

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/callboard/callboard/persistence"
)

// A child process inherits the lock for a moment if its parent is killed while starting it. Lock therefore tries
// several times.
const (
	lockAttempts = 20
	lockPause    = 50 * time.Millisecond
)

// Lock locks the data folder for this process. Errors: the folder belongs to another user, or another process holds
// the lock. The lock ends with the process.
func Lock(dir string) (unlock func(), err error) {
	if err = CheckOwner(dir); err != nil {
		return nil, err
	}
	if err = os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, "callboard.lock"), os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // a path in the operator's data folder
	if err != nil {
		return nil, ExplainPermission(dir, err)
	}
	for tries := 0; ; tries++ {
		if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
			return func() { _ = f.Close() }, nil
		}
		if tries == lockAttempts {
			_ = f.Close()
			return nil, fmt.Errorf("%w: %s; stop the other one or choose another folder with --data", persistence.ErrInUse, dir)
		}
		time.Sleep(lockPause)
	}
}
