package main

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// fillLook is how often it is looked at how full a folder is, at most; where
// looking takes long, it is done a tenth of the time.
const fillLook = 300 * time.Millisecond

// filling shows how far a folder is that is filled with what another holds,
// until end is called: on a terminal only, and beside the output.
func filling(cmd *cobra.Command, hidden bool, label, from, to string) (end func()) {
	f, ok := cmd.ErrOrStderr().(*os.File)
	if hidden || !ok || !term.IsTerminal(int(f.Fd())) {
		return func() {}
	}
	return fill(cmd.Context(), f, label, from, to)
}

func fill(ctx context.Context, out io.Writer, label, from, to string) (end func()) {
	bar := progressbar.NewOptions64(max(1, sizeOf(from)), progressbar.OptionSetWriter(out), progressbar.OptionSetDescription(label),
		progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(30), progressbar.OptionShowBytes(true))
	ctx, stop := context.WithCancel(ctx)
	var wait sync.WaitGroup
	wait.Go(func() {
		for {
			began := time.Now()
			_ = bar.Set64(min(sizeOf(to), bar.GetMax64()))
			select {
			case <-ctx.Done():
				_ = bar.Finish()
				return
			case <-time.After(max(fillLook, 9*time.Since(began))):
			}
		}
	})
	return func() {
		stop()
		wait.Wait()
	}
}

// sizeOf are the bytes of all files below a folder; what comes and goes
// meanwhile counts or does not.
func sizeOf(folder string) (bytes int64) {
	_ = filepath.WalkDir(folder, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			if info, gone := e.Info(); gone == nil {
				bytes += info.Size()
			}
		}
		return nil
	})
	return bytes
}
