package datafolder

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/callboard/callboard/actors/mailbox"
)

// processFile in the data folder has the ID of the process that uses it without
// node_addr. The process has the folder's lock, so a lease of this ID is its own,
// or that of a process before it which has ended.
const processFile = "process.id"

// ReadOrCreateProcessID reads the ID in processFile, which is made where there is none.
func ReadOrCreateProcessID(data string) (string, error) {
	path := filepath.Join(data, processFile)
	text, err := os.ReadFile(path) //nolint:gosec // the operator's own folder
	id := strings.TrimSpace(string(text))
	if err == nil && id != "" {
		return id, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	id = mailbox.NewID("process")
	return id, WriteSecretFile(path, id+"\n")
}
