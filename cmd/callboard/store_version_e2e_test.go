package main_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/pebble"
	"github.com/callboard/callboard/persistence/redis"
	"github.com/callboard/callboard/persistence/redis/redistest"
)

// newerRequirement is the version requirement in a store that a future version of Callboard has written.
var newerRequirement = persistence.Requirement{Format: persistence.StoreFormat + 1, Version: "99.1.0"}

// writeRequirement writes a version requirement into a store that no process uses, and closes the store.
func writeRequirement(t testing.TB, d persistence.Driver, needs persistence.Requirement) {
	t.Helper()
	value, err := json.Marshal(needs)
	require.NoError(t, err)
	require.NoError(t, d.ClaimAll(t.Context(), "1|test"))
	_, err = d.Commit(t.Context(), persistence.Commit{
		Shard: persistence.WholeStore, Token: "1|test", Puts: []persistence.Put{{Key: persistence.Key{Table: "_meta/", ID: "format"}, Value: value}},
	})
	require.NoError(t, err)
	require.NoError(t, d.Close())
}

// checkStart starts a program, which supports the given store format, on the store of a stopped service. If the store
// requires a newer format, the program must end with an error that names both versions. Otherwise it must run.
func (s *service) checkStart(program string, format int, needs persistence.Requirement) {
	s.t.Helper()
	own := s.binary
	s.binary = program
	defer func() { s.binary = own }()
	if needs.Format <= format {
		s.start()
		s.stop()
		return
	}
	s.startProcess()
	select {
	case <-s.processExited:
	case <-time.After(time.Minute):
		s.t.Fatal("the service runs on a store with an unknown format")
	}
	assert.NotZero(s.t, s.cmd.ProcessState.ExitCode())
	s.checkVersionError(s.logText(), needs)
}

func (s *service) checkVersionError(text string, needs persistence.Requirement) {
	s.t.Helper()
	assert.Regexp(s.t, fmt.Sprintf(`the data need Callboard %s \(store format %d\), and this is Callboard dev \(store format %d\): install %[1]s or newer, or restore the backup`,
		needs.Version, needs.Format, persistence.StoreFormat), text)
}

func (s *service) readStoreRequirement() persistence.Requirement {
	s.t.Helper()
	needs, err := persistence.StoreRequirement(s.t.Context(), func(_ context.Context, k persistence.Key) ([]byte, uint64, error) {
		return pebble.ReadRow(filepath.Join(s.dataFolder(), "store"), k)
	})
	require.NoError(s.t, err)
	return needs
}

func TestNewerStoreFormatIsRejectedByServeRestoreAndDoctor(t *testing.T) {
	t.Parallel()
	s := newRaceFreeService(t)
	backup := filepath.Join(s.dir, "backup")
	_, errs, err := s.runCommand("backup", backup)
	require.NoError(t, err, errs)
	output, _, _ := s.runCommand("doctor", "--all")
	assert.Contains(t, output, fmt.Sprintf("this version supports formats up to %d", persistence.StoreFormat), "reported by the running service")
	s.stop()
	s.checkStart(s.binary, persistence.StoreFormat, s.readStoreRequirement())

	store, err := pebble.Open(filepath.Join(s.dataFolder(), "store"), pebble.Options{})
	require.NoError(t, err)
	writeRequirement(t, store, newerRequirement)
	s.checkStart(s.binary, persistence.StoreFormat, s.readStoreRequirement())
	output, _, err = s.runCommand("doctor")
	require.Error(t, err)
	s.checkVersionError(output, newerRequirement)

	store, err = pebble.Open(filepath.Join(backup, "store"), pebble.Options{})
	require.NoError(t, err)
	writeRequirement(t, store, newerRequirement)
	to := filepath.Join(s.dir, "restored")
	s.env = append(s.env, "CALLBOARD_MASTER_KEY_FILE="+filepath.Join(s.dataFolder(), "master.key"))
	restore := func() {
		t.Helper()
		_, errs, err = s.runCommand("restore", backup, "--data", to)
		require.Error(t, err)
		s.checkVersionError(errs, newerRequirement)
		_, err = os.Stat(filepath.Join(to, "store"))
		require.ErrorIs(t, err, os.ErrNotExist, "a failed restore leaves no files")
	}
	restore() // the store in the backup has the newer requirement
	text, err := os.ReadFile(filepath.Join(backup, "backup.json"))
	require.NoError(t, err)
	var about object
	require.NoError(t, json.Unmarshal(text, &about))
	assert.NotEmpty(t, about["needs"])
	about["needs"] = newerRequirement
	text, err = json.Marshal(about)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(backup, "backup.json"), text, 0o600))
	require.NoError(t, os.RemoveAll(filepath.Join(backup, "store"))) // without the store the requirement in backup.json must suffice
	restore()
}

func TestNewerRedisFormatIsRejectedByServeAndDoctor(t *testing.T) {
	t.Parallel()
	url, _ := redistest.Start(t)
	s := prepareRaceFreeService(t, "CALLBOARD_REDIS_URL="+url)
	store, err := redis.Open(t.Context(), url, redis.Options{})
	require.NoError(t, err)
	writeRequirement(t, store, newerRequirement)
	s.checkStart(s.binary, persistence.StoreFormat, newerRequirement)
	output, _, err := s.runCommand("doctor")
	require.Error(t, err)
	s.checkVersionError(output, newerRequirement)
}
