package shelf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/callboard/callboard/domain"
)

// written is how long a file was not written to that nobody writes any more.
const written = 10 * time.Second

// Take fetches what other nodes have of a workspace to where place says, "" being
// nowhere, and deletes it there. It answers with the files that came, whatever was
// in the way of others, which that tells of.
func (f Far) Take(ctx context.Context, workspace string, place func(file string) string) (files []string, err error) {
	for _, n := range f.Others() {
		var names []string
		wrong := f.List(ctx, n, workspace, func(e Entry) error {
			if e.Age >= written {
				names = append(names, e.Name)
			}
			return nil
		})
		if !errors.Is(wrong, domain.ErrNotFound) {
			err = errors.Join(err, wrong)
		}
		for _, name := range names {
			path := place(name)
			if path == "" {
				continue
			}
			wrong := f.fetch(ctx, n, workspace, name, path)
			if errors.Is(wrong, domain.ErrNotFound) { // its node goes on with it
				continue
			}
			if wrong == nil {
				files = append(files, path)
				bound, cancel := context.WithTimeout(ctx, answerWithin)
				wrong = f.Delete(bound, n, workspace, name) // or it comes again
				cancel()
			}
			err = errors.Join(err, wrong)
		}
	}
	return files, err
}

// Drop deletes at all other nodes what a workspace has there that was written so long
// ago.
func (f Far) Drop(ctx context.Context, workspace string, age time.Duration) (err error) {
	for _, n := range f.Others() {
		var names []string
		wrong := f.List(ctx, n, workspace, func(e Entry) error {
			if e.Age >= age {
				names = append(names, e.Name)
			}
			return nil
		})
		for _, name := range names {
			wrong = errors.Join(wrong, f.Delete(ctx, n, workspace, name))
		}
		if !errors.Is(wrong, domain.ErrNotFound) {
			err = errors.Join(err, wrong)
		}
	}
	return err
}

// fetch makes a file here of one of a node, whole or not at all.
func (f Far) fetch(ctx context.Context, n Node, workspace, name, path string) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	late := time.AfterFunc(answerWithin, cancel)
	defer late.Stop()
	resp, err := f.ask(ctx, n, http.MethodGet, "/"+workspace+"/"+name, nil)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	late.Reset(lasts(resp.ContentLength))
	if resp.StatusCode != http.StatusOK || resp.ContentLength < 0 {
		return away(n, fmt.Errorf("%w: %d", errOther, resp.StatusCode))
	}
	dir := filepath.Dir(path)
	if err = os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(dir, filepath.Base(path)+".part-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(file.Name())
		}
	}()
	if _, err = io.CopyN(file, resp.Body, resp.ContentLength); err != nil {
		err = away(n, err)
	}
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err = os.Rename(file.Name(), path); err != nil {
		return err
	}
	folder, err := os.Open(dir) //nolint:gosec // a folder of ours
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
