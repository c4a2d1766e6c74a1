package datafolder

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/callboard/callboard/persistence"
)

// A process that is killed while it starts another one leaves its lock to that
// for a moment.
const (
	lockAttempts = 20
	lockPause    = 50 * time.Millisecond
)

// Lock takes the data folder for this process, unless it is another user's.
// The lock goes with the process, however that ends.
func Lock(dir string) (unlock func(), err error) {
	if err = CheckOwner(dir); err != nil {
		return nil, err
	}
	if err = os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, "callboard.lock"), os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // the operator's own folder
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
