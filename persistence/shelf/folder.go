// Package shelf lets the nodes of an install reach files of each other: those of a
// folder in which each workspace has one. It knows no more of a file than its name.
package shelf

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// readMost is how many names of a folder are read at a time.
const readMost = 1000

var plain = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}$`)

// Folder gives other nodes what lies in a folder of this one.
//
//	GET    /                  the workspaces that have something, a line each
//	GET    /WORKSPACE         a line for each of its files: the name, a space, and the seconds since it was written
//	GET    /WORKSPACE/NAME    a file, also a range of it; 404: there is none
//	DELETE /WORKSPACE/NAME    204, also where there was none
//	DELETE /WORKSPACE         all that it has
type Folder struct {
	// Dir need not be there.
	Dir string
	// Half says whether a file is still being made, or is none of those that are
	// given: it is not there. nil: all are.
	Half func(name string) bool
	// Mine says whether this node goes on with the files of a workspace: nobody else
	// gets any. nil: it never does.
	Mine func(workspace string) bool
}

// ServeHTTP is an http.Handler's.
func (f Folder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	workspace, name, one := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if (workspace != "" || one) && !plain.MatchString(workspace) || one && !f.fits(name) {
		http.Error(w, "no such name", http.StatusNotFound)
		return
	}
	if workspace != "" && f.Mine != nil && f.Mine(workspace) {
		http.Error(w, "it is in use", http.StatusNotFound)
		return
	}
	path := filepath.Join(f.Dir, workspace, name)
	var err error
	switch {
	case r.Method == http.MethodGet && one:
		err = f.give(w, r, path)
	case r.Method == http.MethodGet && workspace == "":
		err = f.list(w, path, func(e fs.DirEntry) string {
			if !e.IsDir() || !plain.MatchString(e.Name()) || f.Mine != nil && f.Mine(e.Name()) || !f.any(e.Name()) {
				return ""
			}
			return e.Name()
		})
	case r.Method == http.MethodGet:
		now := time.Now()
		err = f.list(w, path, func(e fs.DirEntry) string {
			info, gone := e.Info()
			if gone != nil || !info.Mode().IsRegular() || !f.fits(e.Name()) {
				return ""
			}
			return e.Name() + " " + strconv.FormatInt(int64(now.Sub(info.ModTime()).Seconds()), 10)
		})
	case r.Method == http.MethodDelete && one:
		if err = os.Remove(path); errors.Is(err, fs.ErrNotExist) { //nolint:gosec // the names are checked
			err = nil
		}
	case r.Method == http.MethodDelete && workspace != "":
		err = os.RemoveAll(path) //nolint:gosec // the names are checked
	default:
		http.Error(w, "no such method", http.StatusMethodNotAllowed)
		return
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		http.Error(w, "no such file", http.StatusNotFound)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	case r.Method == http.MethodDelete:
		w.WriteHeader(http.StatusNoContent)
	}
}

func (f Folder) fits(name string) bool {
	return plain.MatchString(name) && (f.Half == nil || !f.Half(name))
}

// any says whether a workspace has a file.
func (f Folder) any(workspace string) bool {
	dir, err := os.Open(filepath.Join(f.Dir, workspace)) //nolint:gosec // the name is checked
	if err != nil {
		return false
	}
	defer func() { _ = dir.Close() }()
	for {
		names, err := dir.Readdirnames(readMost)
		if slices.ContainsFunc(names, f.fits) {
			return true
		}
		if err != nil || len(names) == 0 {
			return false
		}
	}
}

// give sends a file, under a mark by which it is known again.
func (f Folder) give(w http.ResponseWriter, r *http.Request, path string) error {
	file, err := os.Open(path) //nolint:gosec // the name is checked
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fs.ErrNotExist
	}
	h := w.Header()
	h.Set("Etag", fmt.Sprintf(`"%x-%x"`, info.ModTime().UnixNano(), info.Size()))
	h.Set("Content-Type", "application/octet-stream")
	http.ServeContent(w, r, "", time.Time{}, file)
	return nil
}

// list writes a line for each entry that has one; a folder that is not there is empty.
func (f Folder) list(w http.ResponseWriter, path string, line func(fs.DirEntry) string) error {
	dir, err := os.Open(path) //nolint:gosec // the name is checked
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }()
	for {
		entries, err := dir.ReadDir(readMost) // the last batch is empty
		for _, e := range entries {
			if text := line(e); text != "" {
				if _, gone := fmt.Fprintln(w, text); gone != nil { // whoever asked has
					return nil
				}
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil: // what was told is not all, and looks as if it were
			panic(http.ErrAbortHandler)
		}
	}
}
