package doctor

import (
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	masterKeySize = 32
	// minDistinctBytes is the number of distinct byte values below which a key counts as not random. 32 random
	// bytes have about 30 distinct values, and practically never fewer than 16.
	minDistinctBytes = 16
)

// checkMasterKey checks the permissions, the place and the randomness of the master key.
func (d *Diagnosis) checkMasterKey(context.Context) {
	path, named := d.Config.MasterKeyFile, d.Config.MasterKeyFile != ""
	if !named {
		path = filepath.Join(d.Config.Data, "master.key")
	}
	text, err := os.ReadFile(path) //nolint:gosec // the operator names it
	if errors.Is(err, fs.ErrNotExist) {
		if _, there := os.Stat(filepath.Join(d.Config.Data, "store")); there == nil {
			d.report.bad("master_key_lost", "restore the key from its backup; without it the store cannot be decrypted", "there is a store but no master key in %s", path)
		}
		return
	}
	if err != nil {
		d.report.bad("master_key", "give the service's user read permission", "%v", err)
		return
	}
	if mode, others := checkFileAccess(path); others {
		d.report.bad("master_key_mode", "chmod 600 "+path, "other users of this machine can read or change the master key (%04o)", mode)
	}
	if !named {
		d.report.warn("master_key_location", "move the key to another disk or a secret store, and set master_key_file: a copy of the data folder contains the key to itself", "the master key is in the data folder")
	}
	key := text
	if len(key) != masterKeySize {
		key, err = hex.DecodeString(strings.TrimSpace(string(text)))
	}
	switch {
	case err != nil || len(key) != masterKeySize:
		d.report.bad("master_key", "create a key with head -c 32 /dev/urandom | xxd -p -c 64", "%s must contain 32 bytes, raw or in hex", path)
	case countDistinctBytes(key) < minDistinctBytes:
		d.report.bad("master_key_entropy", "create a key with head -c 32 /dev/urandom and switch to it with callboard keys rotate-master", "the master key is not random: it can be guessed")
	default:
		d.report.ok("master_key", "%s contains a key", path)
	}
}

func countDistinctBytes(b []byte) int {
	seen := make(map[byte]bool)
	for _, x := range b {
		seen[x] = true
	}
	return len(seen)
}

// checkKeyFiles warns about API key files that the first start has written, and checks the permissions of the
// engines file.
func (d *Diagnosis) checkKeyFiles(context.Context) {
	for _, name := range []string{"admin.key", "test.key"} {
		path := filepath.Join(d.Config.Data, name)
		if mode, others := checkFileAccess(path); others {
			d.report.bad("key_mode", "chmod 600 "+path, "other users of this machine can read or change %s (%04o)", path, mode)
		}
	}
	if _, err := os.Stat(filepath.Join(d.Config.Data, "admin.key")); err == nil {
		d.report.warn("admin_key", "store the key elsewhere and delete admin.key", "the operator's key of the first start is still in the data folder")
	}
	if path := d.Config.EnginesFile; path != "" {
		if mode, _ := checkFileAccess(path); mode&0o022 != 0 {
			d.report.bad("engines_mode", "chmod go-w "+path, "other users of this machine can change %s (%04o) and redirect the audio of calls", path, mode)
		}
	}
}
