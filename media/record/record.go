// Package record writes the sound of calls to stereo WAV files, µ-law or linear: the caller left, the agent right. Whoever hands in
// sound never waits for a disk. It knows neither packets nor clocks: the samples handed in are the file's time.
package record

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/callboard/callboard/media/g711"
	"github.com/callboard/callboard/media/wav"
)

const (
	// chunkLen is a second of two channels, in bytes. Chunks end where the file has a multiple of it: the kernel writes a whole
	// and even piece of a file at half the cost.
	chunkLen  = 16384
	maxQueued = 32   // chunks of one recorder that may wait for the disk: half a minute
	maxTotal  = 2048 // chunks of all: 32 MB
	channels  = 2
)

// Result is the finished file.
type Result struct {
	Path     string
	Duration time.Duration
	Err      error
}

// chunk is a piece of a file; what could not be kept leaves a gap that is silence in the file.
type chunk struct {
	at   int64 // the samples before it
	n    int
	room int
	data []byte // chunkLen
}

// Recorder takes the sound of one call. Write, Silence and Close are for one goroutine at a time.
type Recorder struct {
	pool   *Pool
	path   string
	open   *chunk
	at     int64 // samples of both sides taken so far
	closed bool
	done   chan Result

	mu     sync.Mutex // what the writers share
	queue  []*chunk
	listed bool
	final  int64 // at, once closed; -1 before
	ended  bool  // the finish has begun
	unkept bool  // no file shall be left

	// The writers' own; one writer at a time has the recorder.
	file    *os.File
	written int64 // as at
	err     error
}

// Create begins a recording. The file appears with the first sound that reaches the disk, or at Close.
func (p *Pool) Create(path string) *Recorder {
	return &Recorder{pool: p, path: path, final: -1, done: make(chan Result, 1)}
}

// Write takes a frame of both sides, of equal length; µ-law.
func (r *Recorder) Write(left, right []byte) {
	if r.closed {
		return
	}
	right = right[:len(left)]
	for len(left) > 0 {
		if r.open == nil {
			r.begin()
		}
		c := r.open
		n := min(len(left), (c.room-c.n)/channels)
		dst := c.data[c.n : c.n+channels*n]
		interleave(dst, left[:n], right[:n])
		c.n += channels * n
		r.at += int64(channels * n)
		left, right = left[n:], right[n:]
		if c.n == c.room {
			r.hand()
		}
	}
}

// interleave puts two channels into one, four samples at a time.
func interleave(dst, left, right []byte) {
	i := 0
	for ; i+4 <= len(left); i += 4 {
		l, r := binary.LittleEndian.Uint32(left[i:]), binary.LittleEndian.Uint32(right[i:])
		binary.LittleEndian.PutUint64(dst[2*i:], spread(l)|spread(r)<<8)
	}
	for ; i < len(left); i++ {
		dst[2*i], dst[2*i+1] = left[i], right[i]
	}
}

// spread puts a zero behind each byte.
func spread(v uint32) uint64 {
	x := uint64(v)
	x = (x | x<<16) & 0x0000FFFF0000FFFF
	return (x | x<<8) & 0x00FF00FF00FF00FF
}

// Silence lets n samples of both sides go by.
func (r *Recorder) Silence(n int) {
	if r.closed || n <= 0 {
		return
	}
	r.hand()
	r.at += int64(channels * n)
}

// Close ends the recording and returns at once. The channel yields one Result when the file is complete and on the disk.
func (r *Recorder) Close() <-chan Result {
	if r.closed {
		return r.done
	}
	r.hand()
	r.closed = true
	r.mu.Lock()
	r.final = r.at
	r.mu.Unlock()
	r.pool.list(r, true)
	return r.done
}

// Discard ends the recording as Close does, and leaves no file: the Result has no path.
func (r *Recorder) Discard() <-chan Result {
	r.mu.Lock()
	r.unkept = true
	r.mu.Unlock()
	return r.Close()
}

func (r *Recorder) begin() {
	c, ok := r.pool.chunks.Get().(*chunk)
	if !ok {
		c = &chunk{data: make([]byte, chunkLen)}
	}
	r.open = c
	c.at, c.n = r.at, 0
	before := int(r.at%chunkLen) + wav.HeaderLen/r.pool.format.Bytes()
	if c.room = (chunkLen - before%chunkLen) / channels * channels; c.room == 0 {
		c.room = chunkLen
	}
}

// hand gives the open chunk to the writers, or lets it go where too many wait.
func (r *Recorder) hand() {
	c := r.open
	r.open = nil
	if c == nil || c.n == 0 {
		return
	}
	r.mu.Lock()
	room := len(r.queue) < maxQueued && r.pool.waiting.Load() < maxTotal
	if room {
		r.pool.waiting.Add(1)
		r.queue = append(r.queue, c)
	}
	r.mu.Unlock()
	if !room {
		r.pool.chunks.Put(c)
		return
	}
	r.pool.list(r, false)
}

// drain writes what waits; true, once: the recording is closed and all of it is written.
func (r *Recorder) drain() bool {
	for {
		r.mu.Lock()
		if len(r.queue) == 0 {
			r.listed = false
			now := r.final >= 0 && !r.ended
			r.ended = r.ended || now
			r.mu.Unlock()
			return now
		}
		c := r.queue[0]
		r.queue = append(r.queue[:0], r.queue[1:]...)
		r.mu.Unlock()
		r.write(c)
		r.pool.waiting.Add(-1)
		r.pool.chunks.Put(c)
	}
}

func (r *Recorder) write(c *chunk) {
	if r.err != nil || !r.create() {
		return
	}
	if r.err = r.fill(c.at); r.err != nil {
		return
	}
	data := c.data[:c.n]
	if r.pool.format == wav.PCM16 {
		wide, ok := r.pool.wide.Get().(*[2 * chunkLen]byte)
		if !ok {
			wide = new([2 * chunkLen]byte)
		}
		defer r.pool.wide.Put(wide)
		data = linear(wide[:0], data)
	}
	if _, r.err = r.file.Write(data); r.err == nil {
		r.written += int64(c.n)
	}
}

// linear rewrites µ-law as 16-bit samples.
func linear(out, mu []byte) []byte {
	for _, b := range mu {
		out = binary.LittleEndian.AppendUint16(out, uint16(g711.MuToLinear(b))) //nolint:gosec // two's complement
	}
	return out
}

func (r *Recorder) create() bool {
	if r.file != nil {
		return true
	}
	if r.err = os.MkdirAll(filepath.Dir(r.path), 0o700); r.err != nil {
		return false
	}
	if r.file, r.err = os.OpenFile(r.path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600); r.err != nil {
		r.file = nil
		return false
	}
	_, r.err = r.file.Write(r.pool.format.Header(channels, wav.Unknown))
	return r.err == nil
}

// fill writes silence up to a place: sound that was let go, or never was.
func (r *Recorder) fill(to int64) error {
	if r.written >= to {
		return nil
	}
	slab := bytes.Repeat([]byte{g711.MuSilence}, chunkLen)
	if r.pool.format == wav.PCM16 {
		slab = make([]byte, 2*chunkLen)
	}
	for r.written < to {
		n := min(to-r.written, chunkLen)
		if _, err := r.file.Write(slab[:n*int64(r.pool.format.Bytes())]); err != nil {
			return err
		}
		r.written += n
	}
	return nil
}

// finish closes the file: header, contents and its name are on the disk afterwards.
func (r *Recorder) finish() error {
	if r.unkept {
		return r.remove()
	}
	err := r.err
	if err == nil && r.create() {
		err = r.fill(r.final)
	}
	if err = errors.Join(err, r.err); err == nil {
		_, err = r.file.WriteAt(r.pool.format.Header(channels, uint32(r.final)*uint32(r.pool.format.Bytes())), 0) //nolint:gosec // 37 hours
	}
	if err == nil {
		err = r.file.Sync()
	}
	if r.file != nil {
		err = errors.Join(err, r.file.Close())
	}
	if err == nil {
		err = syncDir(filepath.Dir(r.path))
	}
	return err
}

// remove leaves no file.
func (r *Recorder) remove() error {
	r.written = 0
	if r.file == nil {
		return nil
	}
	return errors.Join(r.file.Close(), os.Remove(r.path))
}

// tell hands the result over, once.
func (r *Recorder) tell(err error) {
	out := Result{Path: r.path, Duration: time.Duration(r.written/channels) * time.Second / 8000}
	if r.unkept {
		out.Path = ""
	}
	if err != nil {
		out.Err = fmt.Errorf("record: %s: %w", r.path, err)
	}
	r.done <- out
	close(r.done)
}

func syncDir(path string) error {
	d, err := os.Open(path) //nolint:gosec // the owner names it
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Pool is the writers that all recorders of a process share.
type Pool struct {
	format  wav.Format
	chunks  sync.Pool
	wide    sync.Pool    // where linear samples are written
	waiting atomic.Int64 // chunks handed over and not written

	mu     sync.Mutex
	ready  []*Recorder
	ended  bool
	kick   chan struct{}
	stop   chan struct{}
	work   sync.WaitGroup
	finish chan struct{} // bounds how many files are synced at once
}
