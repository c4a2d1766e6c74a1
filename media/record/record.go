// Package record writes the sound of calls to stereo WAV files, µ-law or linear: the caller left, the agent right. Whoever hands in
// sound never waits for a disk. It knows neither packets nor clocks: the samples handed in are the file's time.
package record

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/callboard/callboard/media/g711"
	"github.com/callboard/callboard/media/wav"
)

const (
	// pieceLen is half a second of two channels, in bytes, and what is written at once. Pieces end where the file has a multiple
	// of it: the kernel writes a whole and even piece of a file at half the cost, and one twice as long at the same.
	pieceLen = 8192
	// blockLen is what memory is taken by, as a piece fills: on average that is little more than half of the piece. Six are a
	// piece, and each fits into 1408 bytes, which is a size that the heap hands out.
	blockLen  = 1366
	maxQueued = 360   // blocks of one recorder that may wait for the disk: half a minute
	maxTotal  = 24000 // blocks of all: 32 MB
	channels  = 2
)

// Result is the finished file.
type Result struct {
	Path     string
	Duration time.Duration
	Gap      error // why some of it could not be written: silence stands there, or its end is missing; nil: nothing is missing
	Err      error // it is lost
}

// block is a part of a piece of a file; what could not be kept leaves a gap that is silence in the file.
type block struct {
	at   int64 // the samples before it
	n    int
	room int
	last bool // of its piece
	data [blockLen]byte
}

// scratch is where a writer puts a piece together.
type scratch struct {
	mu   [pieceLen]byte
	wide [2 * pieceLen]byte // where linear samples are written
}

// Recorder takes the sound of one call. Write, Silence and Close are for one goroutine at a time.
type Recorder struct {
	// What each frame needs, on one line of the caches.
	pool    *Pool
	open    *block
	filling []*block // of the same piece, before it
	at      int64    // samples of both sides taken so far
	closed  bool

	path string
	done chan Result

	mu     sync.Mutex // what the writers share
	queue  []*block
	listed bool
	final  int64 // at, once closed; -1 before
	ended  bool  // the finish has begun
	unkept bool  // no file shall be left
	onward bool  // the file may have a beginning of another process

	// The writers' own; one writer at a time has the recorder.
	taken   []*block
	file    *os.File
	written int64 // as at
	gap     error // the first that could not be written
	err     error // for good
}

// Create begins a recording. The file appears with the first sound that reaches the disk, or at Close.
func (p *Pool) Create(path string) *Recorder {
	return &Recorder{pool: p, path: path, final: -1, done: make(chan Result, 1)}
}

// Continue is Create for a recording that another process has begun: what is
// handed in counts from the beginning of the file. Where there is none, or it
// was written otherwise, that part is silence.
func (p *Pool) Continue(path string) *Recorder {
	r := p.Create(path)
	r.onward = true
	return r
}

// Write takes a frame of both sides, of equal length; µ-law.
func (r *Recorder) Write(left, right []byte) {
	if r.closed {
		return
	}
	right = right[:len(left)]
	for len(left) > 0 {
		if r.open == nil {
			r.openFile()
		}
		c := r.open
		n := min(len(left), (c.room-c.n)/channels)
		dst := c.data[c.n : c.n+channels*n]
		interleave(dst, left[:n], right[:n])
		c.n += channels * n
		r.at += int64(channels * n)
		left, right = left[n:], right[n:]
		if c.n < c.room {
			continue
		}
		r.filling, r.open = append(r.filling, c), nil
		if c.last {
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

func (r *Recorder) openFile() {
	c, ok := r.pool.blocks.Get().(*block)
	if !ok {
		c = new(block)
	}
	r.open = c
	c.at, c.n = r.at, 0
	before := int(r.at%pieceLen) + wav.HeaderLen/r.pool.format.Bytes()
	left := (pieceLen - before%pieceLen) / channels * channels
	if left == 0 {
		left = pieceLen
	}
	c.room, c.last = min(left, blockLen), left <= blockLen
}

// hand gives what there is of a piece to the writers, or lets it go where too much waits.
func (r *Recorder) hand() {
	if r.open != nil {
		r.filling, r.open = append(r.filling, r.open), nil
	}
	n := len(r.filling)
	if n == 0 {
		return
	}
	r.mu.Lock()
	room := len(r.queue)+n <= maxQueued && r.pool.waiting.Load() < maxTotal
	if room {
		r.pool.waiting.Add(int64(n))
		r.queue = append(r.queue, r.filling...)
	}
	r.mu.Unlock()
	if room {
		r.pool.list(r, false)
	} else {
		r.pool.free(r.filling)
	}
	clear(r.filling)
	r.filling = r.filling[:0]
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
		r.taken, r.queue = r.queue, r.taken[:0]
		r.mu.Unlock()
		r.writeTaken()
	}
}

// writeTaken writes blocks, each piece at once, and gives their memory back.
func (r *Recorder) writeTaken() {
	defer func() {
		r.pool.waiting.Add(-int64(len(r.taken)))
		r.pool.free(r.taken)
		clear(r.taken)
		if cap(r.taken) > (pieceLen+blockLen-1)/blockLen { // of a slow disk, that is over
			r.taken = nil
		}
	}()
	if r.err != nil || !r.create() {
		return
	}
	for left := r.taken; len(left) > 0 && r.err == nil; { // a disk that is full now may take what comes next
		n := 1
		for n < len(left) && !left[n-1].last && left[n].at == left[n-1].at+int64(left[n-1].n) {
			n++
		}
		if err := r.write(left[:n]); err != nil {
			r.misses(err)
		}
		left = left[n:]
	}
}

// misses goes on behind what was written whole: what could not be is silence once
// the disk takes something again.
func (r *Recorder) misses(why error) {
	r.gap = cmp.Or(r.gap, why)
	_, r.err = r.file.Seek(r.size(r.written), io.SeekStart)
}

// size is that of a file with so many samples.
func (r *Recorder) size(samples int64) int64 {
	return wav.HeaderLen + samples*int64(r.pool.format.Bytes())
}

// write writes blocks that follow one another, at most a piece.
func (r *Recorder) write(blocks []*block) error {
	if err := r.fill(blocks[0].at); err != nil {
		return err
	}
	s := r.pool.borrow()
	defer r.pool.scratches.Put(s)
	data := s.mu[:0]
	for _, b := range blocks {
		data = append(data, b.data[:b.n]...)
	}
	n := len(data)
	if r.pool.format == wav.PCM16 {
		data = linear(s.wide[:0], data)
	}
	if _, err := r.file.Write(data); err != nil {
		return err
	}
	r.written += int64(n)
	return nil
}

// linear rewrites µ-law as 16-bit samples.
func linear(out, mu []byte) []byte {
	for _, b := range mu {
		out = binary.LittleEndian.AppendUint16(out, uint16(g711.MuToLinear(b))) //nolint:gosec // two's complement
	}
	return out
}

// create makes the file, unless there is one; false: it cannot be had now.
func (r *Recorder) create() bool {
	if r.file != nil {
		return true
	}
	if err := os.MkdirAll(filepath.Dir(r.path), 0o700); err != nil {
		r.gap = cmp.Or(r.gap, err)
		return false
	}
	if r.onward && r.reopen() {
		return r.err == nil
	}
	file, err := os.OpenFile(r.path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err == nil {
		if _, err = file.Write(r.pool.format.Header(channels, wav.Unknown)); err != nil {
			_ = file.Close()
		}
	}
	if err != nil {
		r.gap = cmp.Or(r.gap, err)
		return false
	}
	r.file = file
	return true
}

// reopen goes on behind what another process has written; false: there is
// nothing that could be gone on with.
func (r *Recorder) reopen() bool {
	format, size, err := wav.Begun(r.path)
	if err != nil || format != r.pool.format {
		return false
	}
	width := int64(channels * format.Bytes())
	frames := size / width
	if r.file, err = os.OpenFile(r.path, os.O_RDWR, 0o600); err != nil {
		r.file = nil
		return false
	}
	if err = r.file.Truncate(wav.HeaderLen + frames*width); err == nil {
		_, err = r.file.WriteAt(format.Header(channels, wav.Unknown), 0)
	}
	if err == nil {
		_, err = r.file.Seek(0, io.SeekEnd)
	}
	r.written, r.err = frames*channels, err
	return true
}

// fill writes silence up to a place: sound that was let go, or never was.
func (r *Recorder) fill(to int64) error {
	if r.written >= to {
		return nil
	}
	s := r.pool.borrow()
	defer r.pool.scratches.Put(s)
	slab, quiet := s.wide[:pieceLen*r.pool.format.Bytes()], byte(g711.MuSilence)
	if r.pool.format == wav.PCM16 {
		quiet = 0
	}
	for i := range slab {
		slab[i] = quiet
	}
	for r.written < to {
		n := min(to-r.written, pieceLen)
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
	if err == nil && !r.create() {
		err = cmp.Or(r.err, r.gap)
	}
	if err == nil {
		if e := r.fill(r.final); e != nil { // its end is missing, and not all of it
			r.misses(e)
			r.final = 0
		}
		r.final = max(r.final, r.written) // what a process before this one wrote may reach further
		if err = r.err; err == nil && r.gap != nil {
			err = r.file.Truncate(r.size(r.final))
		}
		if r.gap != nil && r.written == 0 {
			err = cmp.Or(err, r.gap)
		}
	}
	if err == nil {
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

// sendResult hands the result over, once.
func (r *Recorder) sendResult(err error) {
	out := Result{Path: r.path, Duration: time.Duration(r.written/channels) * time.Second / 8000, Gap: r.gap}
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
	format    wav.Format
	blocks    sync.Pool
	scratches sync.Pool
	waiting   atomic.Int64 // blocks handed over and not written

	mu     sync.Mutex
	ready  []*Recorder
	ended  bool
	kick   chan struct{}
	stop   chan struct{}
	work   sync.WaitGroup
	finish chan struct{} // bounds how many files are synced at once
}
