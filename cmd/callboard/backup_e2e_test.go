package main_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBackupOfRunningServiceIsVerifiedAndRestored(t *testing.T) {
	t.Parallel()
	s := newRaceFreeService(t)
	s.key = s.testKey()
	id := s.startCampaign(s.createGreetingAgent(), []string{"+15005551011", "+15005551111", "+15005551211", "+15005551311"}, object{
		"pacing": object{"calls_per_minute": 60, "max_concurrent": 1}, "caller_id": object{"number": "+15005550100"},
	})
	var called string
	s.await("the first recording", time.Minute, func() bool {
		for _, c := range s.listData("/v1/calls?campaign_id=" + id) {
			if c := c.(object); c["recording_available"] == true {
				called = c["id"].(string)
			}
		}
		return called != ""
	})
	backup := filepath.Join(s.dir, "backup")
	output, errs, err := s.runCommand("backup", backup)
	require.NoError(t, err, errs)
	assert.Regexp(t, `^Backup of \S+ written to .*/backup: the store, and \d+ recordings and exports \(\d+ bytes\)\.\nBackup verified: 1 workspaces, [1-4] recordings`, output)
	_, errs, err = s.runCommand("backup", backup)
	require.Error(t, err)
	assert.Contains(t, errs, "already exists")
	_, err = os.Stat(filepath.Join(backup, "master.key"))
	require.ErrorIs(t, err, os.ErrNotExist, "the backup does not contain the master key")
	before, ok := s.campaignStatus(id)
	require.True(t, ok)
	require.Equal(t, "running", before.Status)
	s.kill9()

	lost := s.dataFolder() + ".lost"
	require.NoError(t, os.Rename(s.dataFolder(), lost))
	_, errs, err = s.runCommand("restore", backup)
	require.Error(t, err)
	assert.Contains(t, errs, "master key", "a restore requires the master key")
	s.env = append(s.env, "CALLBOARD_MASTER_KEY_FILE="+filepath.Join(lost, "master.key"))
	output, errs, err = s.runCommand("restore", backup)
	require.NoError(t, err, errs)
	assert.Regexp(t, `1 campaigns were paused\.\nThe store is in quarantine`, output)
	_, errs, err = s.runCommand("restore", backup)
	require.Error(t, err)
	assert.Contains(t, errs, "use an empty folder")

	key := s.key
	for _, name := range []string{"admin.key", "test.key"} {
		text, err := os.ReadFile(filepath.Join(lost, name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(s.dataFolder(), name), text, 0o600))
	}
	s.start()
	s.key = key
	status, wav, _ := s.tryRequest("GET", "/v1/calls/"+called+"/recording", nil)
	require.Equal(t, http.StatusOK, status)
	assert.Greater(t, len(wav), 8000, "the recording has audio")
	assert.Equal(t, []any{"paused", "restored"}, func() []any {
		c := s.api("GET", "/v1/campaigns/"+id+"/status", nil)
		return []any{c["status"], c["pause_reason"]}
	}())
	_, errs, err = s.runCommand("release")
	require.NoError(t, err, errs)
	s.await("the restart of the service", time.Minute, func() bool {
		status, text, _, err := s.sendRequest("GET", "/readyz", nil)
		return err == nil && status == http.StatusOK && !strings.Contains(string(text), "quarantined")
	})
	s.api("POST", "/v1/campaigns/"+id+"/resume", nil)
	st := s.awaitCampaignEnd(id, time.Minute)
	assert.Equal(t, 4, st.Progress.Attempted)
	assert.Zero(t, st.Progress.Remaining)
}

func TestRestoreRejectsInvalidBackup(t *testing.T) {
	t.Parallel()
	s := newRaceFreeService(t)
	backup := filepath.Join(s.dir, "backup")
	_, errs, err := s.runCommand("backup", backup)
	require.NoError(t, err, errs)
	s.stop()
	empty := s.t.TempDir()
	_, errs, err = s.runCommand("restore", empty, "--data", filepath.Join(empty, "data"))
	require.Error(t, err)
	assert.Contains(t, errs, "is not a complete backup")
	foreign := filepath.Join(empty, "foreign.key")
	require.NoError(t, os.WriteFile(foreign, make([]byte, 32), 0o600))
	s.env = append(s.env, "CALLBOARD_MASTER_KEY_FILE="+foreign)
	_, errs, err = s.runCommand("restore", backup, "--data", filepath.Join(empty, "data"))
	require.Error(t, err)
	assert.Contains(t, errs, "another master key")
	manifests, err := filepath.Glob(filepath.Join(backup, "store", "MANIFEST-*"))
	require.NoError(t, err)
	require.Len(t, manifests, 1)
	require.NoError(t, os.Truncate(manifests[0], 10))
	_, errs, err = s.runCommand("restore", backup, "--data", filepath.Join(empty, "other"))
	require.Error(t, err)
	assert.NotEmpty(t, errs)
}
