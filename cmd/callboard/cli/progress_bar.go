package cli

import (
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// bar tells how far long work is; on a terminal only, and beside the output.
type bar struct{ of *progressbar.ProgressBar }

// newBar is a bar up to total (-1: not known). It shows nothing where nobody
// looks, or where JSON is asked for.
func (s *session) newBar(total int64, label string, bytes bool) bar {
	f, ok := s.errs().(*os.File)
	if s.asJSON || !ok || !term.IsTerminal(int(f.Fd())) {
		return bar{}
	}
	options := []progressbar.Option{
		progressbar.OptionSetWriter(f), progressbar.OptionSetDescription(label), progressbar.OptionThrottle(100 * time.Millisecond),
		progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(30), progressbar.OptionShowCount(),
	}
	if bytes {
		options = append(options, progressbar.OptionShowBytes(true))
	}
	return bar{progressbar.NewOptions64(total, options...)}
}

func (b bar) shown() bool { return b.of != nil }

func (b bar) set(n int64) {
	if b.of != nil {
		_ = b.of.Set64(n)
	}
}

func (b bar) grow(total int64) {
	if b.of != nil {
		b.of.ChangeMax64(total)
	}
}

func (b bar) say(label string) {
	if b.of != nil {
		b.of.Describe(label)
	}
}

func (b bar) end() {
	if b.of != nil {
		_ = b.of.Finish()
	}
}

// progressReader advances a bar by what is read.
type progressReader struct {
	source io.Reader
	bar    bar
	read   atomic.Int64
}

// reader returns a reader of source that advances the bar.
func (b bar) reader(source io.Reader) io.Reader { return &progressReader{source: source, bar: b} }

func (r *progressReader) Read(b []byte) (int, error) {
	n, err := r.source.Read(b)
	r.bar.set(r.read.Add(int64(n)))
	return n, err
}
