package datafolder

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/callboard/callboard/actors/mailbox"
)

// processFile contains the ID of the process that uses the data folder without node_addr. Only the process that
// locks the folder can use the ID. A lease with this ID therefore belongs to this process or to an ended one.
const processFile = "process.id"

// ReadOrCreateProcessID reads the ID in processFile. If the file does not exist, it creates the file with a new ID.
func ReadOrCreateProcessID(data string) (string, error) {
	path := filepath.Join(data, processFile)
	text, err := os.ReadFile(path) //nolint:gosec // a path in the operator's data folder
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
