package main

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/actors"
	"github.com/callboard/callboard/cmd/callboard/cli"
	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/domain/allow"
	"github.com/callboard/callboard/persistence/blob"
	"github.com/callboard/callboard/persistence/s3"
	"github.com/callboard/callboard/persistence/shelf"
)

const (
	bucketTry   = 40 * time.Second // all steps of it
	bucketSweep = 12 * time.Hour
	moveStep    = 20 * time.Second
)

// bucketOf is the bucket of the settings; nil: recordings lie on disk.
func bucketOf(cfg *configs.Config, seal blob.Sealer, roots *x509.CertPool) (*blob.S3, error) {
	b := cfg.Blobs
	if b.Bucket == "" {
		return nil, nil //nolint:nilnil // nil: the disk
	}
	keys := &bucketKeys{file: cfg.BlobsKeyFile}
	if _, err := keys.now(); err != nil {
		return nil, err
	}
	client, err := s3.New(s3.Config{Endpoint: b.Endpoint, Region: b.Region, Bucket: b.Bucket, PathStyle: b.PathStyle, Keys: keys.now, Roots: roots})
	if err != nil {
		return nil, fmt.Errorf("blobs_url: %w", err)
	}
	return blob.NewS3(client, b.Prefix, seal), nil
}

// placeOf names the bucket of the settings to people; empty: there is none.
func placeOf(cfg *configs.Config) string {
	b := cfg.Blobs
	if b.Bucket == "" {
		return ""
	}
	place := "the bucket " + b.Bucket + " at " + b.Endpoint
	if b.Prefix != "" {
		place += " below " + b.Prefix + "/"
	}
	return place
}

// bucketKeys reads the key again where its file has changed; what cannot be
// read is taken for half-written.
type bucketKeys struct {
	file string

	mu      sync.Mutex
	changed time.Time
	keys    s3.Keys
}

func (k *bucketKeys) now() (s3.Keys, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	var changed time.Time
	if k.file != "" {
		if info, err := os.Stat(k.file); err == nil {
			changed = info.ModTime()
		}
	}
	if k.keys.ID != "" && changed.Equal(k.changed) {
		return k.keys, nil
	}
	read, err := configs.ReadBlobKeys(k.file, os.Environ())
	if err != nil {
		if k.keys.ID != "" {
			return k.keys, nil
		}
		return s3.Keys{}, err
	}
	k.keys, k.changed = s3.Keys{ID: read.ID, Secret: read.Secret.Reveal(), Token: read.Token.Reveal()}, changed
	return k.keys, nil
}

// openBlobs opens where recordings and exports lie. A bucket that refuses us
// ends the start; one that is away does not: calls go on, and what they leave
// waits.
func (t *seat) openBlobs(ctx context.Context, roots *x509.CertPool) (actors.Blobs, error) {
	err := t.once(func() (err error) { // what others have half-written would be removed
		if t.disk == nil {
			t.disk, err = blob.NewDisk(t.folder(backupBlobs), nil)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	disk := t.disk.For(t.vault.store)
	if t.bucket, err = bucketOf(t.cfg, t.vault.store, roots); err != nil {
		return nil, err
	}
	if t.bucket == nil && t.member != nil {
		spread := blob.NewSpread(disk, shelf.Far{Nodes: t.member, At: blobShelf}, t.log)
		t.strays = spread
		return spread, nil
	}
	if t.bucket == nil {
		return disk, nil
	}
	bound, cancel := context.WithTimeout(ctx, bucketTry)
	defer cancel()
	refused, err := t.bucket.Try(bound)
	switch {
	case refused:
		return nil, fmt.Errorf("blobs_url: %w", err)
	case err != nil:
		t.log.Error("the store of recordings is away: they wait in the spool, and none can be played", slog.Any("error", err))
	case t.bucket.Versioned(bound):
		t.log.Warn("the bucket of recordings keeps what is deleted: switch its versions off, or let a rule forget them")
	}
	t.vault.moving = blob.NewMoving(t.bucket, disk)
	return t.vault.moving, nil
}

// sweepBucket removes what uploads of processes that ended have left.
func (t *seat) sweepBucket(run context.Context) {
	if t.bucket == nil {
		return
	}
	for {
		n, err := t.bucket.Sweep(run)
		if n > 0 || err != nil && run.Err() == nil {
			t.log.Info("abandoned uploads were removed from the bucket", slog.Int("uploads", n), slog.Any("error", err))
		}
		if s3.Rest(run, bucketSweep) != nil {
			return
		}
	}
}

// blobAddrs are the addresses of a store of the operator's own, which no tenant
// may name. Public ones are shared with others and no secret.
func blobAddrs(b configs.Blobs) []netip.AddrPort {
	if !b.Named {
		return nil
	}
	u, err := url.Parse(b.Endpoint)
	if err != nil {
		return nil
	}
	port := uint16(443)
	if u.Scheme == "http" {
		port = 80
	}
	var out []netip.AddrPort
	for _, host := range []string{u.Hostname(), b.Bucket + "." + u.Hostname()} {
		for _, a := range addrsOf(host, u.Port(), port) {
			if !allow.PublicAddress(a.Addr()) {
				out = append(out, a)
			}
		}
		if b.PathStyle {
			break
		}
	}
	return out
}

// moveOrder asks for one step of a move; After is empty at first.
type moveOrder struct {
	After  string `json:"after"`
	Remove bool   `json:"remove"`
}

type moveStepped struct {
	blob.Moved
	Next string `json:"next,omitempty"` // empty: nothing is left
}

var errNoBucket = errors.New("the service that runs keeps recordings on disk: set blobs_url and start it anew, then move what lies there")

func (s storeKeys) moveBlobs(ctx context.Context, o moveOrder) (step moveStepped, err error) {
	if s.v.moving == nil {
		return step, errNoBucket
	}
	step.Moved, step.Next, err = s.v.moving.Move(ctx, o.After, o.Remove, moveStep)
	return step, err
}

// mover is who moves: the service that runs, or we on the folder of one that
// does not.
func mover(cmd *cobra.Command, cfg *configs.Config) (step func(context.Context, moveOrder) (moveStepped, error), free func(), err error) {
	if cli.Remote(cmd) {
		return nil, nil, errors.New("recordings are moved on the machine that has them: without --url and --profile")
	}
	if cfg.Blobs.Bucket == "" {
		return nil, nil, errors.New("blobs_url is not set: there is no bucket to move to")
	}
	if d, ok := dialAdmin(cfg.Data); ok {
		return d.moveBlobs, func() {}, nil
	}
	if _, err = os.Stat(filepath.Join(cfg.Data, backupBlobs)); err != nil {
		return nil, nil, fmt.Errorf("--data %s: there are no recordings: %w", cfg.Data, err)
	}
	if free, err = lockData(cfg.Data); err != nil {
		return nil, nil, err
	}
	moving, err := stoppedMoving(cmd.Context(), cfg)
	if err != nil {
		free()
		return nil, nil, err
	}
	return storeKeys{&vault{moving: moving}}.moveBlobs, free, nil
}

// tried is the bucket of the settings, for who seals and opens nothing.
func tried(ctx context.Context, cfg *configs.Config) (*blob.S3, error) {
	roots, err := (&service{cfg: cfg}).readRoots()
	if err != nil {
		return nil, err
	}
	bucket, err := bucketOf(cfg, nil, roots)
	if err != nil {
		return nil, err
	}
	if _, err = bucket.Try(ctx); err != nil {
		return nil, fmt.Errorf("blobs_url: %w", err)
	}
	return bucket, nil
}

// tryBucket is what the doctor asks.
func tryBucket(ctx context.Context, cfg *configs.Config) (place string, versioned bool, err error) {
	bucket, err := tried(ctx, cfg)
	if err != nil {
		return "", false, err
	}
	defer bucket.Close()
	return bucket.String(), bucket.Versioned(ctx), nil
}

// stoppedMoving needs no key of ours: what is moved stays sealed.
func stoppedMoving(ctx context.Context, cfg *configs.Config) (*blob.Moving, error) {
	bucket, err := tried(ctx, cfg)
	if err != nil {
		return nil, err
	}
	disk, err := blob.NewDisk(filepath.Join(cfg.Data, backupBlobs), nil)
	if err != nil {
		return nil, err
	}
	return blob.NewMoving(bucket, disk), nil
}

func blobsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "blobs", Short: "Recordings and exports in a bucket"}
	cmd.AddCommand(blobsMoveCommand())
	return cmd
}

func blobsMoveCommand() *cobra.Command {
	remove, asJSON := false, false
	cmd := &cobra.Command{
		Use: "move", Short: "Copy recordings and exports from the data folder into the bucket of blobs_url, and read each there again", Args: cobra.NoArgs,
		Example: "  callboard blobs move\n  callboard blobs move --remove",
		Long: "Copies what lies in the folder blobs of the data folder into the bucket, of a service that runs with blobs_url set, or of a stopped one. Each object counts once the bucket " +
			"has given the same bytes back. Files stay until --remove says that they may go, which it also does with those that were moved before. It may be broken off and begun again at any point; " +
			"a service that runs plays what lies on disk and what lies in the bucket meanwhile.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := settings(cmd)
			if err != nil {
				return err
			}
			step, free, err := mover(cmd, cfg)
			if err != nil {
				return err
			}
			defer free()
			var all blob.Moved
			for o := (moveOrder{Remove: remove}); ; {
				did, err := step(cmd.Context(), o)
				if all.Add(did.Moved); err != nil {
					return fmt.Errorf("%w (%d were moved; begin again to go on)", err, all.Moved)
				}
				if o.After = did.Next; o.After == "" {
					break
				}
				if !asJSON {
					_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "%d moved so far\n", all.Moved)
				}
			}
			return toldMoved(cmd.OutOrStdout(), cmd, asJSON, all)
		},
	}
	deskFlags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&remove, "remove", false, "remove each file once the bucket has it")
	return cmd
}

func toldMoved(out io.Writer, cmd *cobra.Command, asJSON bool, all blob.Moved) error {
	if asJSON {
		return inJSON(cmd, true, all)
	}
	_, err := fmt.Fprintf(out, "%d were moved (%d bytes), %d were there already, %d files were removed.\n", all.Moved, all.Bytes, all.There+all.Newer, all.Removed)
	if all.Other > 0 && err == nil {
		_, err = fmt.Fprintf(out, "%d files are no recordings and no exports and stay where they are.\n", all.Other)
	}
	return err
}
