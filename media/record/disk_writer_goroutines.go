package record

import (
	"fmt"
	"time"

	"github.com/callboard/callboard/media/wav"
)

const (
	linger    = 100 * time.Millisecond // how long data may wait for more, so that the writers wake seldom
	syncsMost = 64
	urgent    = 64 // number of recorders with data that wakes the writers at once
)

// NewPool starts the goroutines that write recordings of one format.
func NewPool(writers int, format wav.Format) *Pool {
	p := &Pool{format: format, kick: make(chan struct{}, 1), stop: make(chan struct{}), finish: make(chan struct{}, syncsMost)}
	for range max(writers, 1) {
		p.work.Go(p.run)
	}
	return p
}

// Close waits until every closed recording is on disk and stops the writers. After Close no recorder may be used.
func (p *Pool) Close() {
	p.mu.Lock()
	if p.ended {
		p.mu.Unlock()
		return
	}
	p.ended = true
	p.mu.Unlock()
	close(p.stop)
	p.work.Wait()
}

// enlist adds a recorder to the list of recorders with waiting data, unless it is listed. now wakes a writer at once.
func (p *Pool) enlist(r *Recorder, now bool) {
	r.mu.Lock()
	listed := r.listed
	r.listed = true
	r.mu.Unlock()
	p.mu.Lock()
	if !listed {
		p.ready = append(p.ready, r)
	}
	now = now || len(p.ready) >= urgent
	p.mu.Unlock()
	if now {
		select {
		case p.kick <- struct{}{}:
		default:
		}
	}
}

func (p *Pool) run() {
	timer := time.NewTicker(linger)
	defer timer.Stop()
	for {
		select {
		case <-p.kick:
		case <-timer.C:
		case <-p.stop:
			for p.next() {
			}
			return
		}
		for p.next() {
		}
	}
}

// free returns blocks to the pool.
func (p *Pool) free(blocks []*block) {
	for _, b := range blocks {
		p.blocks.Put(b)
	}
}

func (p *Pool) borrow() *scratch {
	if s, ok := p.scratches.Get().(*scratch); ok {
		return s
	}
	return new(scratch)
}

// next writes the waiting data of one recorder. It returns false if no recorder has data.
func (p *Pool) next() bool {
	p.mu.Lock()
	if len(p.ready) == 0 {
		p.mu.Unlock()
		return false
	}
	r := p.ready[0]
	p.ready = append(p.ready[:0], p.ready[1:]...)
	p.mu.Unlock()
	p.serve(r)
	return true
}

func (p *Pool) serve(r *Recorder) {
	if !drainGuarded(r) {
		return
	}
	// The sync to disk runs in another goroutine, because it takes long. File systems sync many files at a time as fast as
	// one.
	p.work.Go(func() {
		p.finish <- struct{}{}
		defer func() { <-p.finish }()
		defer func() {
			if cause := recover(); cause != nil {
				r.sendResult(fmt.Errorf("panic: %v", cause))
			}
		}()
		r.sendResult(r.finish())
	})
}

// drainGuarded writes a recorder's waiting data. A panic fails this recording only, whose waiting data is discarded.
func drainGuarded(r *Recorder) (ended bool) {
	defer func() {
		if cause := recover(); cause != nil {
			r.err = fmt.Errorf("panic: %v", cause)
			ended = r.drain()
		}
	}()
	return r.drain()
}
