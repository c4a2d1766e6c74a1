// Package pdf reads the words of PDF files. Each file is read by a process of
// its own with little memory and time: whatever a stranger's file does to its
// reader, it is done to nobody else. It knows no store and no knowledge base.
package pdf

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/callboard/callboard/media/process"
)

// Bounds of a file.
const (
	MaxFile  = 6 << 20 // bytes
	MaxPages = 500
	MaxText  = 1 << 20 // bytes of words
	limit    = 20 * time.Second
	atOnce   = 2       // processes
	maxWhy   = 1 << 10 // bytes of what a process says about a file
)

// Why a file cannot be read, in words for whoever sent it.
var (
	ErrSlow   = errors.New("the PDF takes too long to read")
	ErrBroken = errors.New("the PDF is damaged, or written in a way that is not understood")
	ErrLocked = errors.New("the PDF takes a password")
	ErrPages  = errors.New("the PDF has more than 500 pages")
	ErrText   = errors.New("the PDF has more than 1048576 bytes of text")
	ErrSize   = errors.New("the PDF has more than 6291456 bytes")
)

// Reader reads files by a command that does what Serve does.
type Reader struct {
	Limit   time.Duration // of one file
	command []string
	room    chan struct{}
}

// New reads by a program and its arguments, for 20 seconds a file.
func New(command ...string) *Reader {
	return &Reader{Limit: limit, command: command, room: make(chan struct{}, atOnce)}
}

// Text are the words of a PDF file: Markdown, with a heading "Page 1" over each
// page that has words. The error says what is wrong with the file, and is one of
// the errors above, or that of ctx.
func (r *Reader) Text(ctx context.Context, file []byte) (string, error) {
	if len(file) > MaxFile {
		return "", ErrSize
	}
	select {
	case r.room <- struct{}{}:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	defer func() { <-r.room }()
	bound, cancel := context.WithTimeout(ctx, r.Limit)
	defer cancel()
	cmd := process.Command(bound, r.command[0], r.command[1:]...)
	out, why := &capped{most: MaxText + 1}, &capped{most: maxWhy}
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = bytes.NewReader(file), out, why, time.Second
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case bound.Err() != nil:
		return "", ErrSlow
	case err == nil && out.Len() <= MaxText:
		return out.String(), nil
	}
	for _, known := range []error{ErrSlow, ErrLocked, ErrPages, ErrText} {
		if strings.Contains(why.String(), known.Error()) {
			return "", known
		}
	}
	return "", ErrBroken
}

// capped keeps the first bytes of what is written.
type capped struct {
	bytes.Buffer
	most int
}

// Write never fails: whoever writes too much is stopped otherwise.
func (c *capped) Write(b []byte) (int, error) {
	_, err := c.Buffer.Write(b[:min(len(b), c.most-c.Len())])
	return len(b), err
}

// Serve reads one file and writes its words. It is for the process that is made
// for this and ends with it: it takes memory and processor time from it.
func Serve(in io.Reader, out io.Writer) error {
	confine()
	file, err := io.ReadAll(io.LimitReader(in, MaxFile+1))
	if err != nil {
		return err
	}
	text, err := read(file)
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, text)
	return err
}
