package media

import (
	"sync"

	"github.com/callboard/callboard/media/g711"
)

const queueLen = 4096 // samples: half a second; a power of two

// audioQueue passes µ-law audio between two goroutines at an even pace. The reader gets silence until enough audio is
// buffered. Beyond a limit, the oldest audio is dropped. Neither writer nor reader waits for the other.
type audioQueue struct {
	mu    sync.Mutex
	ring  [queueLen]byte
	at, n int
	flows bool
	chunk int // the longest chunk so far
	slack int // samples buffered beyond one chunk before output starts
	most  int // maximum of buffered samples
}

// put appends µ-law audio and drops the oldest audio beyond the limit most.
func (q *audioQueue) put(mu []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.chunk = max(len(mu), q.chunk)
	if len(mu) > q.most {
		mu = mu[len(mu)-q.most:]
	}
	if over := q.n + len(mu) - q.most; over > 0 {
		q.at, q.n = (q.at+over)%queueLen, q.n-over
	}
	end := (q.at + q.n) % queueLen
	n := copy(q.ring[end:], mu)
	copy(q.ring[:], mu[n:])
	q.n += len(mu)
}

// get fills dst with the oldest audio, or with silence until enough audio is buffered. sound: dst contains audio.
func (q *audioQueue) get(dst []byte) (sound bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.flows && q.n >= max(len(dst), min(q.chunk, frameMost))+q.slack {
		q.flows = true
	}
	if !q.flows || q.n == 0 {
		q.flows = false
		quiet(dst)
		return false
	}
	n := min(len(dst), q.n)
	k := copy(dst[:n], q.ring[q.at:])
	copy(dst[k:n], q.ring[:])
	q.at, q.n = (q.at+n)%queueLen, q.n-n
	q.flows = n == len(dst)
	for i := n; i < len(dst); i++ {
		dst[i] = g711.MuSilence
	}
	return true
}
