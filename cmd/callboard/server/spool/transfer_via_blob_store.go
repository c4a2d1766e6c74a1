// Package spool moves recordings between nodes through the blob store. It moves them from the spool of a node that does
// not serve their workspace to the node that does.
package spool

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/callboard/callboard/actors/call/recording"
	"github.com/callboard/callboard/actors/node"
	"github.com/callboard/callboard/cmd/callboard/blobstore"
	"github.com/callboard/callboard/cmd/callboard/datafolder"
	"github.com/callboard/callboard/domain"
)

// Time limits and the minimum rate of the transfer of recordings.
const (
	transferInterval = 15 * time.Second
	requestTimeout   = 30 * time.Second   // of a request to the blob store; a file gets more time for its size
	transferRate     = 64 << 10           // minimum rate in bytes per second
	lastPushTimeout  = 15 * time.Second   // at the end of the process
	finishedAfter    = 10 * time.Second   // a file that did not change for this time is complete
	deletedMinAge    = 7 * 24 * time.Hour // minimum age of the recording of a deleted workspace before it is removed.
)

// PartJoiner is the actor node of a shard. It joins the parts of a recording that several nodes have made.
type PartJoiner interface {
	HasWorkspace(id string) bool
	IsWorkspaceDeleted(ctx context.Context, workspaceID string) (bool, error)
	JoinRecordingParts(workspaceID string)
}

// Transfer moves recordings between nodes through the blob store, from a node that does not serve their workspace to
// the node that does. After a crash a file may exist in both places. JoinRecordingParts drops the copy.
type Transfer struct {
	Config

	runEnded  chan struct{} // closed when Run has ended
	processID string        // unique for this process
}

// Config configures a Transfer.
type Config struct {
	Dir    string          // spool of this node, with a folder for each workspace
	Blobs  blobstore.Store // every node can decrypt these blobs
	Serves func(workspace string) bool
	Joiner func(workspace string) PartJoiner // node of a workspace's shard; nil: another process owns the shard
	Log    *slog.Logger
}

// New creates the Transfer of a node.
func New(c Config) *Transfer {
	return &Transfer{Config: c, runEnded: make(chan struct{}), processID: rand.Text()}
}

// Run periodically moves recordings from and to the spool of this node until ctx is done.
func (t *Transfer) Run(ctx context.Context) {
	defer close(t.runEnded)
	tick := time.NewTicker(transferInterval)
	defer tick.Stop()
	for failed := false; ; {
		err := errors.Join(t.push(ctx, t.Serves, finishedAfter), t.pull(ctx))
		if err != nil && !failed && ctx.Err() == nil {
			t.Log.Warn("recordings cannot be moved to the node of their workspace: trying again", slog.Any("error", err), slog.Duration("after", transferInterval))
		}
		failed = err != nil
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// PushRemaining moves all recordings in the spool to the blob store when the process stops. The caller must first stop the
// shards of the node.
func (t *Transfer) PushRemaining() {
	ctx, cancel := context.WithTimeout(context.Background(), lastPushTimeout)
	defer cancel()
	done := make(chan struct{})
	go func() { // a hanging file system must not block the shutdown
		defer close(done)
		select {
		case <-t.runEnded:
		case <-ctx.Done():
			return
		}
		if err := t.push(ctx, func(string) bool { return false }, 0); err != nil {
			t.Log.Warn("recordings stay in the spool until this node starts again", slog.Any("error", err))
		}
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// push moves complete recordings of workspaces that this node does not serve from the spool to the blob store. It
// removes empty folders from the spool.
func (t *Transfer) push(ctx context.Context, serves func(workspace string) bool, minAge time.Duration) (err error) {
	folders, dirErr := os.ReadDir(t.Dir)
	if dirErr != nil && !errors.Is(dirErr, os.ErrNotExist) {
		return dirErr
	}
	for _, folder := range folders {
		workspace := folder.Name()
		if !folder.IsDir() || serves(workspace) {
			continue
		}
		files, dirErr := os.ReadDir(filepath.Join(t.Dir, workspace))
		err = errors.Join(err, dirErr)
		for _, file := range files {
			info, infoErr := file.Info()
			switch {
			case infoErr != nil:
				continue
			case recording.IsAbandoned(info.Name(), info.ModTime(), time.Now()):
				err = errors.Join(err, os.Remove(filepath.Join(t.Dir, workspace, info.Name())))
				continue
			case !recording.IsSpoolFile(info.Name()) || time.Since(info.ModTime()) < minAge:
				continue
			}
			pushErr := t.pushFile(ctx, workspace, info, serves)
			if err = errors.Join(err, pushErr); errors.Is(pushErr, domain.ErrBlobsUnavailable) || ctx.Err() != nil {
				return err
			}
		}
		if !serves(workspace) {
			_ = os.Remove(filepath.Join(t.Dir, workspace)) // fails if the folder is not empty
		}
	}
	return err
}

// pushFile copies a file to the blob store and removes it from the spool if it did not change meanwhile.
func (t *Transfer) pushFile(ctx context.Context, workspace string, info os.FileInfo, serves func(workspace string) bool) error {
	path := filepath.Join(t.Dir, workspace, info.Name())
	f, err := os.Open(path) //nolint:gosec // a path in the spool
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	bound, cancel := context.WithTimeout(ctx, transferTimeout(info.Size()))
	defer cancel()
	if _, err = t.Blobs.Put(bound, datafolder.SpoolDir, t.objectName(workspace, info), f); err != nil {
		return err
	}
	now, err := os.Stat(path)
	if err != nil {
		return err
	}
	if serves(workspace) || now.Size() != info.Size() || !now.ModTime().Equal(info.ModTime()) {
		return nil // the file changed or its workspace is served again: it stays, and the join of its parts drops the copy
	}
	if err = os.Remove(path); err != nil {
		return err
	}
	t.Log.Info("a recording was moved to the blob store for the node of its workspace", slog.String("workspace_id", workspace), slog.String("file", info.Name()))
	return nil
}

// objectName returns the name of a recording in the blob store. It contains an id of this process, because several
// nodes may have parts of a call under the same file name. A repeated upload replaces the previous object.
func (t *Transfer) objectName(workspace string, info os.FileInfo) string {
	return workspace + "." + info.Name() + "." + t.processID + strconv.FormatInt(info.ModTime().UnixNano(), 36)
}

// parseObjectName returns the workspace and the file name in an object name.
func parseObjectName(object string) (workspace, file string, ok bool) {
	workspace, rest, _ := strings.Cut(object, ".")
	end := strings.LastIndex(rest, ".")
	if end < 0 || !recording.IsSpoolFile(rest[:end]) {
		return "", "", false
	}
	return workspace, rest[:end], true
}

// transferTimeout returns the time limit for a file of this size.
func transferTimeout(size int64) time.Duration {
	return requestTimeout + time.Duration(size/transferRate)*time.Second
}

// list returns the names of recordings in the blob store that no node has fetched yet.
func (t *Transfer) list(ctx context.Context) ([]string, error) {
	bound, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return t.Blobs.List(bound, datafolder.SpoolDir)
}

// pull fetches the recordings of workspaces that this node serves.
func (t *Transfer) pull(ctx context.Context) error {
	objects, err := t.list(ctx)
	for _, object := range objects {
		workspace, file, ok := parseObjectName(object)
		if !ok {
			continue
		}
		node := t.Joiner(workspace)
		switch {
		case node == nil:
			continue
		case !node.HasWorkspace(workspace):
			err = errors.Join(err, t.dropDeleted(ctx, node, workspace, file, object))
			continue
		}
		fileErr := t.pullFile(ctx, workspace, file, object)
		if err = errors.Join(err, fileErr); errors.Is(fileErr, domain.ErrBlobsUnavailable) || ctx.Err() != nil {
			return err
		}
		node.JoinRecordingParts(workspace)
	}
	return err
}

// pullFile fetches an object into the spool and removes it from the blob store.
func (t *Transfer) pullFile(ctx context.Context, workspace, file, object string) error {
	path := recording.FreePartPath(filepath.Join(t.Dir, workspace), file)
	if path == "" {
		return nil // another part of the call has this name: the object is fetched after the join
	}
	err := t.fetch(ctx, object, path)
	if errors.Is(err, domain.ErrNotFound) || errors.Is(err, fs.ErrExist) {
		return nil // another node fetched the object, or another part of the recording got this name
	}
	if err != nil {
		return fmt.Errorf("%s: %w", object, err)
	}
	t.Log.Info("a recording of another node's spool was fetched", slog.String("workspace_id", workspace), slog.String("file", file))
	return t.remove(ctx, object)
}

// fetch atomically writes an object to a file.
func (t *Transfer) fetch(ctx context.Context, object, path string) (err error) {
	bound, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	from, size, err := t.Blobs.Open(bound, datafolder.SpoolDir, object)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	late := time.AfterFunc(transferTimeout(size), func() { _ = from.Close() })
	defer late.Stop()
	to, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".part-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(to.Name())
		}
	}()
	_, err = io.Copy(to, from)
	if err == nil {
		err = to.Sync()
	}
	if err = errors.Join(err, to.Close()); err != nil {
		return err
	}
	if err = recording.RenameToFree(to.Name(), path); err != nil {
		return err
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// dropDeleted removes the recording of a deleted workspace from the blob store, but only after deletedMinAge. A restore
// from a backup may bring the workspace back.
func (t *Transfer) dropDeleted(ctx context.Context, node PartJoiner, workspace, file, object string) error {
	if file > domain.ID(domain.PrefixCall, time.Now().Add(-deletedMinAge), [10]byte{}) {
		return nil
	}
	bound, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	if deleted, err := node.IsWorkspaceDeleted(bound, workspace); err != nil || !deleted {
		return err
	}
	return t.remove(ctx, object)
}

// remove deletes an object from the blob store.
func (t *Transfer) remove(ctx context.Context, object string) error {
	bound, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return t.Blobs.Delete(bound, datafolder.SpoolDir, object)
}

// WorkspaceBlobs is a blob store whose DeleteAll also deletes recordings of the workspace that no node has fetched yet.
type WorkspaceBlobs struct {
	node.Blobs

	Transfer *Transfer
}

// DeleteAll deletes all blobs of a workspace, and its recordings that no node has fetched yet.
func (b WorkspaceBlobs) DeleteAll(ctx context.Context, workspace string) error {
	objects, err := b.Transfer.list(ctx)
	for _, object := range objects {
		if of, _, ok := parseObjectName(object); ok && of == workspace {
			err = errors.Join(err, b.Transfer.remove(ctx, object))
		}
	}
	return errors.Join(err, b.Blobs.DeleteAll(ctx, workspace))
}
