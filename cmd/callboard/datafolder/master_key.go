package datafolder

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

	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/persistence"
)

// ReadOrCreateMasterKey reads the master key from a file. If the file does not exist, it creates the file with a
// new key.
func ReadOrCreateMasterKey(path string) ([]byte, error) {
	text, err := os.ReadFile(path) //nolint:gosec // the operator chooses the path
	if err == nil {
		if err = Sync(path, filepath.Dir(path)); err != nil {
			return nil, err
		}
		return parseMasterKey(path, text)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	created := make([]byte, persistence.MasterKeySize)
	if _, err = rand.Read(created); err != nil {
		return nil, err
	}
	return created, WriteSecretFile(path, hex.EncodeToString(created)+"\n")
}

// MasterKeyFile returns the path of the master key file.
func MasterKeyFile(cfg *configs.Config) string {
	if cfg.MasterKeyFile != "" {
		return cfg.MasterKeyFile
	}
	return filepath.Join(cfg.Data, "master.key")
}

// ReadMasterKey reads the master key, which encrypts all other keys. Without master_key_file it reads the key in
// the data folder, and creates it on the first start.
func ReadMasterKey(cfg *configs.Config, log *slog.Logger) ([]byte, error) {
	path := MasterKeyFile(cfg)
	if cfg.MasterKeyFile == "" {
		key, err := os.ReadFile(path) //nolint:gosec // a path in the operator's data folder
		if err == nil {
			return parseMasterKey(path, key)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		created := make([]byte, persistence.MasterKeySize)
		if _, err := rand.Read(created); err != nil {
			return nil, err
		}
		if err := WriteSecretFile(path, hex.EncodeToString(created)+"\n"); err != nil {
			return nil, err
		}
		log.Warn("a master key was created in the data folder: move it to another place and set CALLBOARD_MASTER_KEY_FILE to its path",
			slog.String("path", path))
		return created, nil
	}
	key, err := os.ReadFile(path) //nolint:gosec // the operator chooses the path
	if err != nil {
		return nil, err
	}
	return parseMasterKey(path, key)
}

// parseMasterKey returns the key from 32 bytes, raw or in hex.
func parseMasterKey(path string, text []byte) ([]byte, error) {
	if len(text) == persistence.MasterKeySize {
		return text, nil
	}
	key, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(key) != persistence.MasterKeySize {
		return nil, fmt.Errorf("the master key in %s must be %d bytes, raw or in hex", path, persistence.MasterKeySize)
	}
	return key, nil
}

// DeriveKey derives a key for one purpose from the master key with HMAC-SHA256.
func DeriveKey(master []byte, purpose string) []byte {
	mac := hmac.New(sha256.New, master)
	mac.Write([]byte(purpose))
	return mac.Sum(nil)
}
