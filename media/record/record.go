// Package record writes the audio of calls to stereo WAV files, µ-law or linear: the caller on the left, the agent
// on the right. Callers of a Recorder never wait for the disk. The position in a file is the number of samples written.
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
	// pieceLen is the number of bytes per write: half a second of two channels. In the file, pieces end at multiples of
	// pieceLen, because the kernel writes aligned pieces at half the cost. Longer pieces cost the same per byte.
	pieceLen = 8192
	// blockLen is the size of the memory blocks of a piece. A recorder allocates the six blocks of a piece one by one as
	// audio arrives, so on average it holds little more than half a piece. A block fits into 1408 bytes, a size class of
	// the Go allocator.
	blockLen  = 1366
	maxQueued = 360   // blocks of one recorder waiting for the disk: half a minute
	maxTotal  = 24000 // blocks of all recorders: 32 MB
	channels  = 2
)

// Result describes the finished file.
type Result struct {
	Path     string
	Duration time.Duration
	Gap      error // why audio is missing, as silence or at the end; nil: the file is complete
	Err      error // why the whole recording is lost
}

// block is recorded audio of both channels that waits for the disk. Dropped blocks become silence in the file.
type block struct {
	at   int64 // position in the file: number of samples before the block
	n    int
	room int
	last bool // last block of its piece
	data [blockLen]byte
}

// scratch is a buffer in which a writer goroutine assembles a piece of the file.
type scratch struct {
	mu   [pieceLen]byte
	wide [2 * pieceLen]byte // buffer for linear samples
}

// Recorder records the audio of one call. Write, Silence and Close must not be called concurrently.
type Recorder struct {
	// These fields are used for each frame. They are next to each other to share a cache line.
	pool    *Pool
	open    *block
	filling []*block // earlier blocks of the same piece
	at      int64    // position: samples of both channels so far
	closed  bool

	path string
	done chan Result

	mu        sync.Mutex // guards the fields shared with the writers
	queue     []*block
	listed    bool
	final     int64 // position at Close; -1: not closed
	ended     bool  // finish has begun
	discarded bool  // the file is to be removed
	continued bool  // another process may have written the beginning of the file

	// Only the writer goroutine that currently serves this recorder uses the following fields.
	taken   []*block
	file    *os.File
	written int64 // position up to which the file is written
	gap     error // first error that left a gap
	err     error // permanent error
}

// Create starts a recording. The file is created when the first audio is written to disk, or at Close.
func (p *Pool) Create(path string) *Recorder {
	return &Recorder{pool: p, path: path, final: -1, done: make(chan Result, 1)}
}

// Continue starts a recording that continues the file of another process. The caller counts samples from the beginning
// of the file. If the file is missing or has another format, the earlier time is silence in a new file.
func (p *Pool) Continue(path string) *Recorder {
	r := p.Create(path)
	r.continued = true
	return r
}

// Write records a frame of both channels, µ-law of equal length.
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
			r.queuePiece()
		}
	}
}

// interleave combines two channels into stereo samples, four samples at a time.
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

// spread inserts a zero byte after each byte of v.
func spread(v uint32) uint64 {
	x := uint64(v)
	x = (x | x<<16) & 0x0000FFFF0000FFFF
	return (x | x<<8) & 0x00FF00FF00FF00FF
}

// Silence records n samples of silence in both channels.
func (r *Recorder) Silence(n int) {
	if r.closed || n <= 0 {
		return
	}
	r.queuePiece()
	r.at += int64(channels * n)
}

// Close ends the recording and returns at once. The channel yields one Result when the file is complete on disk.
func (r *Recorder) Close() <-chan Result {
	if r.closed {
		return r.done
	}
	r.queuePiece()
	r.closed = true
	r.mu.Lock()
	r.final = r.at
	r.mu.Unlock()
	r.pool.enlist(r, true)
	return r.done
}

// Discard ends the recording like Close and removes the file. The Result has no path.
func (r *Recorder) Discard() <-chan Result {
	r.mu.Lock()
	r.discarded = true
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

// queuePiece passes the blocks of the current piece to the writers. It drops them if too many blocks are waiting.
func (r *Recorder) queuePiece() {
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
		r.pool.enlist(r, false)
	} else {
		r.pool.free(r.filling)
	}
	clear(r.filling)
	r.filling = r.filling[:0]
}

// drain writes the waiting blocks. It returns true, once, when the recording is closed and all blocks are written.
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

// writeTaken writes the blocks that drain took from the queue, piece by piece, and frees them.
func (r *Recorder) writeTaken() {
	defer func() {
		r.pool.waiting.Add(-int64(len(r.taken)))
		r.pool.free(r.taken)
		clear(r.taken)
		if cap(r.taken) > (pieceLen+blockLen-1)/blockLen { // after a slow disk has recovered
			r.taken = nil
		}
	}()
	if r.err != nil || !r.create() {
		return
	}
	for left := r.taken; len(left) > 0 && r.err == nil; { // after an error the disk may accept the next piece
		n := 1
		for n < len(left) && !left[n-1].last && left[n].at == left[n-1].at+int64(left[n-1].n) {
			n++
		}
		if err := r.write(left[:n]); err != nil {
			r.recordGap(err)
		}
		left = left[n:]
	}
}

// recordGap records a write error and moves back to the end of the last complete write. If later writes succeed, the
// missing audio becomes silence.
func (r *Recorder) recordGap(why error) {
	r.gap = cmp.Or(r.gap, why)
	_, r.err = r.file.Seek(r.size(r.written), io.SeekStart)
}

// size returns the length in bytes of a file that contains the given number of samples.
func (r *Recorder) size(samples int64) int64 {
	return wav.HeaderLen + samples*int64(r.pool.format.Bytes())
}

// write writes consecutive blocks of audio, at most a piece, after silence for a gap before them.
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
		data = toLinear(s.wide[:0], data)
	}
	if _, err := r.file.Write(data); err != nil {
		return err
	}
	r.written += int64(n)
	return nil
}

// toLinear converts µ-law to 16-bit samples.
func toLinear(out, mu []byte) []byte {
	for _, b := range mu {
		out = binary.LittleEndian.AppendUint16(out, uint16(g711.MuToLinear(b))) //nolint:gosec // two's complement
	}
	return out
}

// create creates the file if it does not exist. It returns false if that fails; a later call may succeed.
func (r *Recorder) create() bool {
	if r.file != nil {
		return true
	}
	if err := os.MkdirAll(filepath.Dir(r.path), 0o700); err != nil {
		r.gap = cmp.Or(r.gap, err)
		return false
	}
	if r.continued && r.reopen() {
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

// reopen continues the file of another process. It returns false if the file is missing or unusable.
func (r *Recorder) reopen() bool {
	format, size, err := wav.InspectRecording(r.path)
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

// fill writes silence up to a position, in place of dropped or missing audio.
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

// finish completes the file, and syncs its header, contents and directory entry to disk.
func (r *Recorder) finish() error {
	if r.discarded {
		return r.remove()
	}
	err := r.err
	if err == nil && !r.create() {
		err = cmp.Or(r.err, r.gap)
	}
	if err == nil {
		if e := r.fill(r.final); e != nil { // the end is missing; the rest stays
			r.recordGap(e)
			r.final = 0
		}
		r.final = max(r.final, r.written) // another process may have written beyond the end
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

// remove removes the file.
func (r *Recorder) remove() error {
	r.written = 0
	if r.file == nil {
		return nil
	}
	return errors.Join(r.file.Close(), os.Remove(r.path))
}

// sendResult delivers the result of the recording to the channel that Close returned.
func (r *Recorder) sendResult(err error) {
	out := Result{Path: r.path, Duration: time.Duration(r.written/channels) * time.Second / 8000, Gap: r.gap}
	if r.discarded {
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

// Pool is the set of writer goroutines that all recorders of a process share.
type Pool struct {
	format    wav.Format
	blocks    sync.Pool
	scratches sync.Pool
	waiting   atomic.Int64 // blocks queued and not written

	mu     sync.Mutex
	ready  []*Recorder
	ended  bool
	kick   chan struct{}
	stop   chan struct{}
	work   sync.WaitGroup
	finish chan struct{} // limits concurrent syncs
}
