package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/actors"
	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/blob"
	"github.com/callboard/callboard/persistence/pebble"
)

// What a backup is made of: the store, the sealed recordings and exports, and
// what tells what it is. It never holds the master key.
const (
	backupStore  = "store"
	backupBlobs  = "blobs"
	backupPaper  = "backup.json"
	backupFormat = 1
)

// backupOrder asks for a backup into a folder that is not there yet.
type backupOrder struct {
	To string `json:"to"` // absolute
}

// backedUp is what a backup holds.
type backedUp struct {
	Format  int       `json:"format"`
	At      time.Time `json:"at"` // all that was committed before is in it
	Version string    `json:"version"`
	Blobs   int       `json:"blobs"` // recordings and exports
	Bytes   int64     `json:"bytes"` // of these
	// BlobsIn is where recordings and exports lie besides, which no backup of
	// ours holds; empty: nowhere.
	BlobsIn string `json:"blobs_in,omitempty"`
	// Needs is what a program must be to restore it.
	Needs persistence.Requirement `json:"needs"`
}

// backup writes the store first, so that every recording that it names was
// written before; those that are deleted meanwhile are missing.
func (s storeKeys) backup(ctx context.Context, o backupOrder) (made backedUp, err error) {
	driver, ok := s.v.driver.(*pebble.Driver)
	if !ok {
		place := "the folder blobs with those of the machine"
		if s.v.bucket != "" {
			place = s.v.bucket + " with those of its own"
		}
		return made, errors.New("the store is Redis: back it up with its own means, and " + place)
	}
	if !filepath.IsAbs(o.To) {
		return made, fmt.Errorf("the folder %s must be named from the root", o.To)
	}
	if _, err = os.Stat(o.To); !errors.Is(err, fs.ErrNotExist) {
		return made, fmt.Errorf("%s is there already: name a folder that is not", o.To)
	}
	part := o.To + ".part"
	defer func() {
		if err != nil {
			_ = os.RemoveAll(part)
		}
	}()
	if err = os.Mkdir(part, 0o700); err != nil {
		return made, err
	}
	made = backedUp{Format: backupFormat, Version: version, At: time.Now().UTC(), BlobsIn: s.v.bucket}
	if err = driver.Backup(filepath.Join(part, backupStore)); err != nil {
		return made, err
	}
	if made.Needs, err = s.requirement(ctx); err != nil { // read behind the copy: at least what the copy needs
		return made, err
	}
	if made.Blobs, made.Bytes, err = blob.Backup(ctx, filepath.Join(s.v.data, backupBlobs), filepath.Join(part, backupBlobs)); err != nil {
		return made, err
	}
	text, err := json.MarshalIndent(made, "", "  ")
	if err != nil {
		return made, err
	}
	if err = writeSecret(filepath.Join(part, backupPaper), string(text)+"\n"); err != nil {
		return made, err
	}
	if err = os.Rename(part, o.To); err != nil {
		return made, err
	}
	return made, synced(filepath.Dir(o.To))
}

// requirement is what a program must be to open the store.
func (s storeKeys) requirement(ctx context.Context) (persistence.Requirement, error) {
	return persistence.StoreRequirement(ctx, s.v.driver.Get)
}

// provenBackup is what a backup tells in JSON.
type provenBackup struct {
	backedUp
	Folder string `json:"folder"`
	Proof  string `json:"proof,omitempty"` // what was read of it; empty: it was not opened
}

func inJSON(cmd *cobra.Command, asJSON bool, v any) error {
	if !asJSON {
		return nil
	}
	return printJSON(cmd.OutOrStdout(), v)
}

func backupCommand() *cobra.Command {
	unproven, asJSON := false, false
	cmd := &cobra.Command{
		Use: "backup FOLDER", Short: "Write a backup into a folder, of a running service or a stopped one, and prove it", Args: cobra.ExactArgs(1),
		Example: "  callboard backup /backups/monday",
		Long: "Writes what is committed, with all recordings on disk, into a folder that is not there yet; calls go on. What never changes is linked, so a backup on the same " +
			"file system takes little room: carry it elsewhere afterwards. Then the backup is opened as a store of its own, with the master key, and every recording that it names is looked for. " +
			"The master key is not in it: keep that apart.",
		RunE: func(cmd *cobra.Command, args []string) error {
			to, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			cfg, err := settings(cmd)
			if err != nil {
				return err
			}
			var made backedUp
			err = withKeys(cmd, func(ctx context.Context, d keyDesk) (err error) {
				made, err = d.backup(ctx, backupOrder{to})
				return err
			})
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if asJSON {
				out = io.Discard
			}
			if _, err = fmt.Fprintf(out, "The backup of %s lies in %s: the store, and %d recordings and exports of %d bytes.\n", made.At.Format(time.RFC3339), to, made.Blobs, made.Bytes); err != nil {
				return err
			}
			if made.BlobsIn != "" {
				if _, err = fmt.Fprintf(out, "Not in it are the recordings and exports that lie in %s: keep those by its own means.\n", made.BlobsIn); err != nil {
					return err
				}
			}
			if unproven {
				return inJSON(cmd, asJSON, provenBackup{made, to, ""})
			}
			proof, err := prove(cmd.Context(), cfg, to)
			if err != nil {
				return fmt.Errorf("the backup cannot be restored: %w", err)
			}
			_, err = fmt.Fprintf(out, "It was opened and read: %s.\n", proof)
			return errors.Join(err, inJSON(cmd, asJSON, provenBackup{made, to, proof}))
		},
	}
	settingsFlags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&unproven, "unproven", false, "do not open the backup to see that it can be restored")
	return cmd
}

// prove opens a backup as a store of its own and looks for what it names. The
// backup itself is not touched: what a store changes is copied.
func prove(ctx context.Context, cfg *configs.Config, backup string) (string, error) {
	paper, err := paperOf(backup)
	if err != nil {
		return "", err
	}
	trial, err := os.MkdirTemp(filepath.Dir(backup), filepath.Base(backup)+".trial-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(trial) }()
	if err = trialOf(filepath.Join(backup, backupStore), filepath.Join(trial, backupStore)); err != nil {
		return "", err
	}
	v, err := openVault(ctx, configIn(cfg, trial), logger(cfg), nil)
	if err != nil {
		return "", err
	}
	defer v.close()
	all, err := actors.Workspaces(ctx, v.store)
	if err != nil {
		return "", err
	}
	recorded, missing, err := actors.MissingRecordings(ctx, v.store, func(workspace, name string) bool {
		if paper.BlobsIn != "" {
			return true // there, or in the bucket
		}
		_, gone := os.Stat(filepath.Join(backup, backupBlobs, workspace, name))
		return gone == nil
	})
	if err != nil {
		return "", err
	}
	if missing > 0 { // by retention, or by somebody's hand, while the backup was made
		return fmt.Sprintf("%d workspaces, %d recordings, %d of which were deleted meanwhile", len(all), recorded, missing), nil
	}
	return fmt.Sprintf("%d workspaces, %d recordings", len(all), recorded), nil
}

// trialOf copies a store: tables, which never change, as links.
func trialOf(from, to string) error {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	files, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, f := range files {
		source, target := filepath.Join(from, f.Name()), filepath.Join(to, f.Name())
		if strings.HasSuffix(f.Name(), ".sst") && os.Link(source, target) == nil {
			continue
		}
		text, err := os.ReadFile(source) //nolint:gosec // of a backup
		if err == nil {
			err = os.WriteFile(target, text, 0o600) //nolint:gosec // in the folder of the trial
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// paperOf reads what a backup says of itself.
func paperOf(backup string) (made backedUp, err error) {
	text, err := os.ReadFile(filepath.Join(backup, backupPaper)) //nolint:gosec // the operator names it
	if errors.Is(err, fs.ErrNotExist) {
		return made, fmt.Errorf("%s is no backup, or not a whole one: it has no %s", backup, backupPaper)
	}
	if err != nil {
		return made, err
	}
	if err = json.Unmarshal(text, &made); err != nil {
		return made, fmt.Errorf("%s: %w", backupPaper, err)
	}
	if made.Format != backupFormat {
		return made, fmt.Errorf("%s has format %d, written by Callboard %s, and this is Callboard %s, which reads format %d: restore it with %[3]s or newer", backupPaper, made.Format, made.Version, version, backupFormat)
	}
	return made, made.Needs.Check(version)
}
