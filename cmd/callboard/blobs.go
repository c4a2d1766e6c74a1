package main

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"time"

	s3credentials "github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/spf13/cobra"

	"github.com/callboard/callboard/actors"
	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/domain/allow"
	"github.com/callboard/callboard/persistence/blob"
	"github.com/callboard/callboard/persistence/shelf"
)

const (
	bucketTry   = 40 * time.Second // all steps of it
	bucketSweep = 12 * time.Hour
)

// bucketOf is the bucket of the settings; nil: recordings lie on disk.
func bucketOf(cfg *configs.Config, seal blob.Sealer, roots *x509.CertPool) (*blob.S3, error) {
	b := cfg.Blobs
	if b.Bucket == "" {
		return nil, nil //nolint:nilnil // nil: the disk
	}
	keys := &bucketKeys{file: cfg.BlobsKeyFile}
	if _, err := keys.Retrieve(); err != nil {
		return nil, err
	}
	bucket, err := blob.NewS3(blob.S3Config{Endpoint: b.Endpoint, Region: b.Region, Bucket: b.Bucket, PathStyle: b.PathStyle, Credentials: keys, Roots: roots}, b.Prefix, seal)
	if err != nil {
		return nil, fmt.Errorf("blobs_url: %w", err)
	}
	return bucket, nil
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

// bucketKeys is a credentials.Provider, which has one caller at a time. It reads
// the key again where its file has changed; a file that cannot be read is taken
// for half-written.
type bucketKeys struct {
	file    string
	changed time.Time
	keys    s3credentials.Value
}

// IsExpired is credentials.Provider's.
func (k *bucketKeys) IsExpired() bool {
	info, err := os.Stat(k.file)
	return err == nil && !info.ModTime().Equal(k.changed)
}

// Retrieve is credentials.Provider's.
func (k *bucketKeys) Retrieve() (s3credentials.Value, error) {
	var changed time.Time
	if info, err := os.Stat(k.file); err == nil {
		changed = info.ModTime()
	}
	read, err := configs.ReadBlobKeys(k.file, os.Environ())
	switch {
	case err == nil:
		k.changed, k.keys = changed, s3credentials.Value{AccessKeyID: read.ID, SecretAccessKey: read.Secret.Reveal(), SessionToken: read.Token.Reveal()}
	case k.keys.AccessKeyID == "":
		return k.keys, err
	}
	return k.keys, nil
}

// RetrieveWithCredContext is credentials.Provider's.
func (k *bucketKeys) RetrieveWithCredContext(*s3credentials.CredContext) (s3credentials.Value, error) {
	return k.Retrieve()
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
	empty, err := disk.Empty()
	if err == nil && !empty {
		err = fmt.Errorf("blobs_url is set, but %s has recordings or exports: run callboard blobs move, then start the service", t.folder(backupBlobs))
	}
	if err != nil {
		return nil, err
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
	return t.bucket, nil
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
		select {
		case <-time.After(bucketSweep):
		case <-run.Done():
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

func blobsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "blobs", Short: "Recordings and exports in a bucket"}
	cmd.AddCommand(blobsMoveCommand())
	return cmd
}

func blobsMoveCommand() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "move", Short: "Move recordings and exports from the data folder into the bucket of blobs_url", Args: cobra.NoArgs,
		Example: "  callboard blobs move",
		Long: "Moves what lies in the folder blobs of the data folder into the bucket, while the service is stopped. A file is removed once the bucket has given the same bytes back. " +
			"The command can be repeated after an error. A service with blobs_url does not start while recordings or exports lie in the folder.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := settings(cmd)
			if err != nil {
				return err
			}
			done, err := moveBlobs(cmd.Context(), cfg, func(now blob.Moved) {
				if n := now.Moved + now.There; !asJSON && n%moveReport == 0 {
					_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "%d moved so far\n", n)
				}
			})
			if err != nil {
				return fmt.Errorf("%w (%d were moved; repeat the command to go on)", err, done.Moved)
			}
			if asJSON {
				return inJSON(cmd, true, done)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d were moved (%d bytes), %d were there already.\n", done.Moved, done.Bytes, done.There)
			if done.Other > 0 && err == nil {
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d files are no recordings and no exports and stay where they are.\n", done.Other)
			}
			return err
		},
	}
	deskFlags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// moveReport is after how many files the command tells its progress.
const moveReport = 1000

// moveBlobs needs no master key: what is moved stays encrypted.
func moveBlobs(ctx context.Context, cfg *configs.Config, progress func(blob.Moved)) (done blob.Moved, err error) {
	dir := filepath.Join(cfg.Data, backupBlobs)
	if cfg.Blobs.Bucket == "" {
		return done, errors.New("blobs_url is not set: there is no bucket to move to")
	}
	if _, err = os.Stat(dir); err != nil {
		return done, fmt.Errorf("--data %s: there are no recordings: %w", cfg.Data, err)
	}
	unlock, err := lockData(cfg.Data)
	if err != nil {
		return done, err
	}
	defer unlock()
	bucket, err := tried(ctx, cfg)
	if err != nil {
		return done, err
	}
	defer bucket.Close()
	disk, err := blob.NewDisk(dir, nil)
	if err != nil {
		return done, err
	}
	return blob.Move(ctx, disk, bucket, progress)
}
