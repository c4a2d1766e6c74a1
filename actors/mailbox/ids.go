package mailbox

import (
	"crypto/rand"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/callboard/callboard/domain"
)

var ids = struct { //nolint:gochecknoglobals // one order of ids per process
	sync.Mutex
	*ulid.MonotonicEntropy
}{MonotonicEntropy: ulid.Monotonic(rand.Reader, 0)}

// NewID makes an identifier of now; those of one process sort in the order
// in which they were made.
func NewID(p domain.Prefix) string {
	ids.Lock()
	defer ids.Unlock()
	u, err := ulid.New(ulid.Timestamp(time.Now()), ids.MonotonicEntropy)
	if err != nil { // the millisecond's numbers are used up: start another run
		ids.MonotonicEntropy = ulid.Monotonic(rand.Reader, 0)
		u = ulid.MustNew(ulid.Timestamp(time.Now()), ids.MonotonicEntropy)
	}
	return string(p) + "_" + u.String()
}
