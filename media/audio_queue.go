package media

import (
	"sync"

	"github.com/callboard/callboard/media/g711"
)

const queueLen = 4096 // samples: half a second; a power of two

// audioQueue carries audio from one goroutine to another at an even pace: it gives nothing until enough is waiting, and lets the
// oldest go where too much is. Its memory is bounded and nobody waits for it.
type audioQueue struct {
	mu    sync.Mutex
	ring  [queueLen]byte
	at, n int
	flows bool
	chunk int // the longest piece put in so far
	slack int // samples that wait beyond one piece before it flows
	most  int // samples that may wait
}

// put adds sound.
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

// get fills a frame, with silence where there is no sound.
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
