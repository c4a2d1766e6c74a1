package cli

import (
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// ProgressBar shows the progress of an upload, a download or a campaign on the terminal. It writes to the standard
// error. The zero value shows nothing.
type ProgressBar struct{ bar *progressbar.ProgressBar }

// NewProgressBar returns a progress bar. total is the value at which the bar is full, or -1 if it is unknown. The bar is
// invisible without a terminal or with --json.
func (s *Session) NewProgressBar(total int64, label string, bytes bool) ProgressBar {
	f, ok := s.ErrOut().(*os.File)
	if s.AsJSON || !ok || !term.IsTerminal(int(f.Fd())) {
		return ProgressBar{}
	}
	options := []progressbar.Option{
		progressbar.OptionSetWriter(f), progressbar.OptionSetDescription(label), progressbar.OptionThrottle(100 * time.Millisecond),
		progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(30), progressbar.OptionShowCount(),
	}
	if bytes {
		options = append(options, progressbar.OptionShowBytes(true))
	}
	return ProgressBar{progressbar.NewOptions64(total, options...)}
}

// IsVisible reports whether the bar is shown.
func (b ProgressBar) IsVisible() bool { return b.bar != nil }

// Set sets the current progress.
func (b ProgressBar) Set(n int64) {
	if b.bar != nil {
		_ = b.bar.Set64(n)
	}
}

// SetTotal sets the progress at which the bar is full.
func (b ProgressBar) SetTotal(total int64) {
	if b.bar != nil {
		b.bar.ChangeMax64(total)
	}
}

// SetLabel sets the text before the bar.
func (b ProgressBar) SetLabel(label string) {
	if b.bar != nil {
		b.bar.Describe(label)
	}
}

// Finish removes the bar from the terminal.
func (b ProgressBar) Finish() {
	if b.bar != nil {
		_ = b.bar.Finish()
	}
}

// progressReader reads from source and advances a progress bar by the number of bytes.
type progressReader struct {
	source io.Reader
	bar    ProgressBar
	read   atomic.Int64
}

// Reader returns a reader that reads from source and advances the bar by the number of bytes.
func (b ProgressBar) Reader(source io.Reader) io.Reader {
	return &progressReader{source: source, bar: b}
}

// Read implements io.Reader.
func (r *progressReader) Read(b []byte) (int, error) {
	n, err := r.source.Read(b)
	r.bar.Set(r.read.Add(int64(n)))
	return n, err
}
