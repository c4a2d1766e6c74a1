package main

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/persistence"
)

// masterKey reads the key that wraps every other one. Where no file is named
// it lies in the data folder, made on first start.
func masterKey(cfg *configs.Config, log *slog.Logger) ([]byte, error) {
	path := masterKeyFile(cfg)
	if cfg.MasterKeyFile == "" {
		key, err := os.ReadFile(path) //nolint:gosec // the operator's own folder
		if err == nil {
			return parseMaster(path, key)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		made := make([]byte, persistence.MasterKeySize)
		if _, err := rand.Read(made); err != nil {
			return nil, err
		}
		if err := writeSecret(path, hex.EncodeToString(made)+"\n"); err != nil {
			return nil, err
		}
		log.Warn("the master key was made in the data folder: move it to another place and name that in CALLBOARD_MASTER_KEY_FILE",
			slog.String("path", path))
		return made, nil
	}
	key, err := os.ReadFile(path) //nolint:gosec // the operator names it
	if err != nil {
		return nil, err
	}
	return parseMaster(path, key)
}

// parseMaster takes 32 bytes as they are or in hex.
func parseMaster(path string, text []byte) ([]byte, error) {
	if len(text) == persistence.MasterKeySize {
		return text, nil
	}
	key, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(key) != persistence.MasterKeySize {
		return nil, fmt.Errorf("the master key in %s must be %d bytes, or these in hex", path, persistence.MasterKeySize)
	}
	return key, nil
}

// derive makes a key for one purpose of the master key.
func derive(master []byte, purpose string) []byte {
	mac := hmac.New(sha256.New, master)
	mac.Write([]byte(purpose))
	return mac.Sum(nil)
}

// writeSecret writes a file that only its owner reads, whole or not at all.
func writeSecret(path, text string) error {
	part := path + ".part"
	f, err := os.OpenFile(part, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600) //nolint:gosec // the operator's own folder
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err = os.Rename(part, path); err != nil {
		return err
	}
	return synced(filepath.Dir(path))
}

// synced lets files and folders outlast a power cut.
func synced(paths ...string) error {
	for _, path := range paths {
		f, err := os.Open(path) //nolint:gosec // the operator names it
		if err != nil {
			return err
		}
		if err = errors.Join(f.Sync(), f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// A process that is killed while it starts another one leaves its lock to that
// for a moment.
const (
	lockTries = 20
	lockPause = 50 * time.Millisecond
)

// lockData takes the data folder for this process, unless it is another user's.
// The lock goes with the process, however that ends.
func lockData(dir string) (unlock func(), err error) {
	if err = checkOwner(dir); err != nil {
		return nil, err
	}
	if err = os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, "callboard.lock"), os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // the operator's own folder
	if err != nil {
		return nil, explainDenied(dir, err)
	}
	for tries := 0; ; tries++ {
		if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
			return func() { _ = f.Close() }, nil
		}
		if tries == lockTries {
			_ = f.Close()
			return nil, fmt.Errorf("%w: %s; stop the other one or choose another folder with --data", persistence.ErrInUse, dir)
		}
		time.Sleep(lockPause)
	}
}
