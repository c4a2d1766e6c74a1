// Package pdf extracts text from PDF files. A separate process with limited memory and time reads each file, because a
// malicious file can make the parser loop or use all memory.
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

// Limits of one PDF file and of the processes that read PDF files.
const (
	MaxFile  = 6 << 20 // bytes
	MaxPages = 500
	MaxText  = 1 << 20 // bytes of text
	limit    = 20 * time.Second
	atOnce   = 2       // concurrent processes
	maxWhy   = 1 << 10 // bytes of the error message of a process
)

// Errors that describe to the user why an uploaded PDF file cannot be read.
var (
	ErrSlow   = errors.New("reading the PDF takes too long")
	ErrBroken = errors.New("the PDF is damaged or has an unsupported format")
	ErrLocked = errors.New("the PDF is protected by a password")
	ErrPages  = errors.New("the PDF has more than 500 pages")
	ErrText   = errors.New("the PDF has more than 1048576 bytes of text")
	ErrSize   = errors.New("the PDF has more than 6291456 bytes")
)

// Reader extracts the text of PDF files. For each file it runs a command, which must call Serve.
type Reader struct {
	Limit   time.Duration // time limit of one file
	command []string
	room    chan struct{}
}

// New returns a Reader that runs command, a program and its arguments, for each file. Default time limit: 20 seconds
// per file.
func New(command ...string) *Reader {
	return &Reader{Limit: limit, command: command, room: make(chan struct{}, atOnce)}
}

// Text returns the text of a PDF file as Markdown, with a heading such as "Page 1" above each page that has text.
// The error is ErrSize, ErrSlow, ErrBroken, ErrLocked, ErrPages, ErrText or the error of ctx.
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
	out, why := &prefixBuffer{most: MaxText + 1}, &prefixBuffer{most: maxWhy}
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

// prefixBuffer is a buffer that stores only the first most bytes that are written to it.
type prefixBuffer struct {
	bytes.Buffer
	most int
}

// Write discards the bytes beyond the limit without an error. Other limits stop a process that writes too much.
func (c *prefixBuffer) Write(b []byte) (int, error) {
	_, err := c.Buffer.Write(b[:min(len(b), c.most-c.Len())])
	return len(b), err
}

// Serve reads one PDF file from in and writes its text to out. It permanently limits the memory and CPU time of the
// process, so the process must exit afterwards.
func Serve(in io.Reader, out io.Writer) error {
	setLimits()
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
