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
	masterSize = 32
	// leastKinds: 32 random bytes hold 30 different ones, fewer than 16 never.
	leastKinds = 16
)

// masterKey looks at the key that wraps all others.
func (d *Diagnosis) masterKey(context.Context) {
	path, named := d.Config.MasterKeyFile, d.Config.MasterKeyFile != ""
	if !named {
		path = filepath.Join(d.Config.Data, "master.key")
	}
	text, err := os.ReadFile(path) //nolint:gosec // the operator names it
	if errors.Is(err, fs.ErrNotExist) {
		if _, there := os.Stat(filepath.Join(d.Config.Data, "store")); there == nil {
			d.report.bad("master_key_lost", "bring it back from where it is kept; without it the store opens for nobody", "there is a store, and no master key in %s", path)
		}
		return
	}
	if err != nil {
		d.report.bad("master_key", "let the service's user read it", "%v", err)
		return
	}
	if mode, others := open(path); others {
		d.report.bad("master_key_mode", "chmod 600 "+path, "others on this machine may read the master key (%04o)", mode)
	}
	if !named {
		d.report.warn("master_key_place", "move it to another disk or a secret store, and name it by master_key_file: a copy of the data folder opens itself", "the master key lies in the data folder")
	}
	key := text
	if len(key) != masterSize {
		key, err = hex.DecodeString(strings.TrimSpace(string(text)))
	}
	switch {
	case err != nil || len(key) != masterSize:
		d.report.bad("master_key", "head -c 32 /dev/urandom | xxd -p -c 64 makes one", "%s must hold 32 bytes, or these in hex", path)
	case kinds(key) < leastKinds:
		d.report.bad("master_key_entropy", "callboard keys rotate-master, to a file of head -c 32 /dev/urandom", "the master key was made by hand, not by chance: it can be guessed")
	default:
		d.report.ok("master_key", "%s holds a key", path)
	}
}

func kinds(b []byte) int {
	seen := make(map[byte]bool)
	for _, x := range b {
		seen[x] = true
	}
	return len(seen)
}

// leftKeys looks for the keys of the first start, and for secrets in the file
// of engines.
func (d *Diagnosis) leftKeys(context.Context) {
	for _, name := range []string{"admin.key", "test.key"} {
		path := filepath.Join(d.Config.Data, name)
		if mode, others := open(path); others {
			d.report.bad("key_mode", "chmod 600 "+path, "others on this machine may read %s (%04o)", path, mode)
		}
	}
	if _, err := os.Stat(filepath.Join(d.Config.Data, "admin.key")); err == nil {
		d.report.warn("admin_key", "keep it elsewhere and delete the file", "the operator's key of the first start still lies in the data folder")
	}
	if path := d.Config.EnginesFile; path != "" {
		if mode, _ := open(path); mode&0o022 != 0 {
			d.report.bad("engines_mode", "chmod go-w "+path, "others on this machine may change %s (%04o): what is said would go where they like", path, mode)
		}
	}
}
