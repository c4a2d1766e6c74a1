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
	"time"

	s3credentials "github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/spf13/cobra"

	"github.com/callboard/callboard/actors"
	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/persistence/blob"
)

const (
	bucketTry   = 40 * time.Second // all steps of it
	bucketSweep = 12 * time.Hour
)

// sharedBlobs keep recordings and exports outside the data folder.
type sharedBlobs interface {
	actors.Blobs
	fmt.Stringer
	// List names the blobs of a workspace.
	List(ctx context.Context, workspace string) (names []string, err error)
	// Sweep removes what abandoned uploads have left.
	Sweep(ctx context.Context) (uploads int, err error)
	// Try writes, reads and deletes. refused: that will not succeed by waiting.
	Try(ctx context.Context) (refused bool, err error)
}

// unsetBlobs is the store of a node without blobs_url. It behaves as a store that is
// away: recordings wait in the spool until blobs_url is set.
type unsetBlobs struct{}

func (unsetBlobs) unavailable() error {
	return fmt.Errorf("%w: %w", domain.ErrAway, domain.Errorf(domain.CodeUnavailable,
		"blobs_url is not set: with node_addr recordings and exports need a bucket or a shared folder that every node reaches").With("retry_after", 60))
}

// Put is an actors.Blobs', as are the next three.
func (b unsetBlobs) Put(context.Context, string, string, io.Reader) (int64, error) {
	return 0, b.unavailable()
}

func (b unsetBlobs) Open(context.Context, string, string) (io.ReadSeekCloser, int64, error) {
	return nil, 0, b.unavailable()
}
func (b unsetBlobs) Delete(context.Context, string, string) error { return b.unavailable() }
func (b unsetBlobs) DeleteAll(context.Context, string) error      { return b.unavailable() }

// List names nothing: a node has no part of a recording to fetch.
func (unsetBlobs) List(context.Context, string) ([]string, error) { return nil, nil }

// Sweep removes nothing.
func (unsetBlobs) Sweep(context.Context) (int, error) { return 0, nil }

// Try fails and is not refused: the node starts.
func (b unsetBlobs) Try(context.Context) (bool, error) { return false, b.unavailable() }

func (unsetBlobs) String() string { return "no store" }

// openSharedBlobs opens the bucket or the folder of blobs_url.
func openSharedBlobs(cfg *configs.Config, seal blob.Sealer, roots *x509.CertPool) (sharedBlobs, error) {
	b := cfg.Blobs
	if b == (configs.Blobs{}) {
		return unsetBlobs{}, nil
	}
	if b.Folder != "" {
		return blob.NewSharedDisk(b.Folder, seal), nil
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

// placeOf names the place of blobs_url to people; empty: there is none.
func placeOf(cfg *configs.Config) string {
	b := cfg.Blobs
	switch {
	case b.Folder != "":
		return "the folder " + b.Folder
	case b.Bucket == "":
		return ""
	}
	place := "the bucket " + b.Bucket + " at " + b.Endpoint
	if b.Prefix != "" {
		place += " below " + b.Prefix + "/"
	}
	return place
}

// checkBlobsConfig is an error where a process with blobs_url must not start: recordings
// still lie in the data folder, or the folder of blobs_url is not there.
func checkBlobsConfig(cfg *configs.Config) error {
	if cfg.Blobs == (configs.Blobs{}) {
		return nil
	}
	local, folder := filepath.Join(cfg.Data, backupBlobs), cfg.Blobs.Folder
	if folder != "" {
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			return fmt.Errorf("blobs_url: there is no folder %s: mount its file system, or make the folder", folder)
		}
	}
	if path, err := filepath.Abs(local); err == nil && path == folder {
		return nil
	}
	disk, err := blob.NewDisk(local, nil)
	if err != nil {
		return err
	}
	empty, err := disk.Empty()
	if err == nil && !empty {
		err = fmt.Errorf("blobs_url is set, but %s has recordings or exports: %s, then start the service", local, migrationHint(cfg))
	}
	return err
}

// migrationHint says how what lies in the data folder gets to where blobs_url names.
func migrationHint(cfg *configs.Config) string {
	if cfg.Blobs.Folder != "" {
		return fmt.Sprintf("copy them with cp -a %s/. %s/ and remove them there", filepath.Join(cfg.Data, backupBlobs), cfg.Blobs.Folder)
	}
	return "run callboard blobs move"
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

// openBlobs opens where recordings and exports lie. A store that refuses us ends the
// start; one that is away does not: calls go on, and what they leave waits.
func (t *seat) openBlobs(ctx context.Context, roots *x509.CertPool) (blobs actors.Blobs, err error) {
	if t.cfg.Blobs == (configs.Blobs{}) && t.member == nil {
		return blob.NewDisk(t.folder(backupBlobs), t.vault.store)
	}
	if t.member == nil {
		if err = checkBlobsConfig(t.cfg); err != nil {
			return nil, err
		}
	}
	if t.shared, err = openSharedBlobs(t.cfg, t.vault.store, roots); err != nil {
		return nil, err
	}
	bound, cancel := context.WithTimeout(ctx, bucketTry)
	defer cancel()
	refused, err := t.shared.Try(bound)
	switch {
	case refused:
		return nil, fmt.Errorf("blobs_url: %w", err)
	case err != nil:
		t.log.Error("the store of recordings is away: they wait in the spool, and none can be played", slog.Any("error", err))
	case isVersioned(bound, t.shared):
		t.log.Warn("the bucket of recordings keeps what is deleted: switch its versions off, or let a rule forget them")
	}
	if t.member != nil {
		return blobsWithTransfers{t.shared, t.member.spool}, nil
	}
	if waiting, err := t.shared.List(bound, spoolDir); err == nil && len(waiting) > 0 {
		t.log.Error("recordings that nodes moved into the store wait there for a node: start with node_addr until the store has none below spool/", slog.Int("recordings", len(waiting)))
	}
	return t.shared, nil
}

// isVersioned says whether a store keeps what is deleted.
func isVersioned(ctx context.Context, blobs sharedBlobs) bool {
	bucket, is := blobs.(*blob.S3)
	return is && bucket.Versioned(ctx)
}

// sweepUploads removes what uploads of processes that ended have left.
func (t *seat) sweepUploads(run context.Context) {
	if t.shared == nil {
		return
	}
	for {
		n, err := t.shared.Sweep(run)
		if n > 0 || err != nil && run.Err() == nil {
			t.log.Info("abandoned uploads were removed from the store of recordings", slog.Int("uploads", n), slog.Any("error", err))
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
			if !access.PublicAddress(a.Addr()) {
				out = append(out, a)
			}
		}
		if b.PathStyle {
			break
		}
	}
	return out
}

// openTestedBlobs opens the store of blobs_url and tests it, for commands that neither seal nor open blobs.
func openTestedBlobs(ctx context.Context, cfg *configs.Config) (sharedBlobs, error) {
	roots, err := (&service{cfg: cfg}).readRoots()
	if err != nil {
		return nil, err
	}
	blobs, err := openSharedBlobs(cfg, nil, roots)
	if err != nil {
		return nil, err
	}
	if _, err = blobs.Try(ctx); err != nil {
		return nil, fmt.Errorf("blobs_url: %w", err)
	}
	return blobs, nil
}

// tryBlobs is what the doctor asks.
func tryBlobs(ctx context.Context, cfg *configs.Config) (place string, versioned bool, err error) {
	blobs, err := openTestedBlobs(ctx, cfg)
	if err != nil {
		return "", false, err
	}
	return blobs.String(), isVersioned(ctx, blobs), nil
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
	if cfg.Blobs.Folder != "" {
		return done, fmt.Errorf("blobs_url names a folder, not a bucket: %s", migrationHint(cfg))
	}
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
	blobs, err := openTestedBlobs(ctx, cfg)
	if err != nil {
		return done, err
	}
	bucket, is := blobs.(*blob.S3)
	if !is {
		return done, errors.New("blobs_url names no bucket")
	}
	defer bucket.Close()
	disk, err := blob.NewDisk(dir, nil)
	if err != nil {
		return done, err
	}
	return blob.Move(ctx, disk, bucket, progress)
}
