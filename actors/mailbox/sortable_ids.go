package mailbox

import (
	"crypto/rand"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/callboard/callboard/domain"
)

var idEntropy = struct { //nolint:gochecknoglobals // all IDs of a process share one order
	sync.Mutex
	*ulid.MonotonicEntropy
}{MonotonicEntropy: ulid.Monotonic(rand.Reader, 0)}

// NewID returns a new identifier that contains the prefix and the current time. Identifiers of one process sort in the order
// of their creation.
func NewID(p domain.Prefix) string {
	idEntropy.Lock()
	defer idEntropy.Unlock()
	u, err := ulid.New(ulid.Timestamp(time.Now()), idEntropy.MonotonicEntropy)
	if err != nil { // the random part of this millisecond overflowed: draw a new one
		idEntropy.MonotonicEntropy = ulid.Monotonic(rand.Reader, 0)
		u = ulid.MustNew(ulid.Timestamp(time.Now()), idEntropy.MonotonicEntropy)
	}
	return string(p) + "_" + u.String()
}
