package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCommandsOfOtherUsersLeaveDataFolderUnchanged runs commands as another user than the owner of the data folder.
// Root must be rejected and leave no files; an ordinary user without write permission gets an error.
func TestCommandsOfOtherUsersLeaveDataFolderUnchanged(t *testing.T) {
	t.Parallel()
	s := newRaceFreeService(t)
	backup := filepath.Join(s.dir, "backup")
	_, errs, err := s.runCommand("backup", backup)
	require.NoError(t, err, errs)
	s.stop()
	empty := filepath.Join(s.dir, "empty")
	require.NoError(t, os.Mkdir(empty, 0o700))
	key := filepath.Join(s.dir, "master.key")
	text, err := os.ReadFile(filepath.Join(s.dataFolder(), "master.key"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(key, text, 0o600))
	s.env = append(s.env, "CALLBOARD_MASTER_KEY_FILE="+key)
	root := os.Geteuid() == 0
	changeFolderOwner(t, root, s.dataFolder(), empty)
	before := s.listFileOwners(s.dataFolder(), empty)

	trunk := []string{"init", "--yes", "--data", s.dataFolder(), "--env-file", filepath.Join(s.dir, "callboard.env"), "--trunk-host", "127.0.0.1"}
	for _, args := range [][]string{
		{"backup", backup + "2"},
		{"keys", "create"},
		{"keys", "rotate-master", key},
		{"usage", "--recount"},
		{"restore", backup, "--data", empty},
		trunk,
		{"serve"}, // serve runs last, because it would not end
		{"serve", "--demo"},
	} {
		_, errs, err = s.runCommand(args...)
		require.Error(t, err, args)
		if root {
			assert.Contains(t, errs, "belongs to the user #12345, and this process runs as user 0: run the command as that user, sudo -u '#12345' callboard …", args)
		} else {
			assert.Contains(t, errs, "permission denied", args)
		}
	}
	if root {
		assert.Equal(t, before, s.listFileOwners(s.dataFolder(), empty), "no file was created and no owner changed")
		output, _, _ := s.runCommand("doctor", "--all")
		assert.Regexp(t, `ok +data +\S+ is writable`, output, "the doctor also works for root")
		assert.NotContains(t, output, "data_owner")
		assert.Equal(t, before, s.listFileOwners(s.dataFolder(), empty))
		require.NoError(t, os.WriteFile(filepath.Join(s.dataFolder(), "store", "left-by-root"), nil, 0o600))
		output, _, err = s.runCommand("doctor")
		require.Error(t, err)
		assert.Regexp(t, `data_owner +\S+/left-by-root belongs to root and the data folder to uid 12345`, output)
	}
	restoreFolderOwner(t, root, s.dataFolder(), empty)
	_, errs, err = s.runCommand("restore", backup, "--data", empty)
	require.NoError(t, err, errs)
	s.start()
}

// changeFolderOwner makes the folders belong to another user if the test runs as root. Otherwise it removes the write
// permission.
func changeFolderOwner(t *testing.T, root bool, folders ...string) {
	t.Helper()
	changeOwner(t, root, 12345, 0o500, folders)
}

func restoreFolderOwner(t *testing.T, root bool, folders ...string) {
	t.Helper()
	changeOwner(t, root, 0, 0o700, folders)
}

func changeOwner(t *testing.T, root bool, uid int, mode os.FileMode, folders []string) {
	t.Helper()
	for _, folder := range folders {
		if !root {
			_ = os.Remove(filepath.Join(folder, "callboard.lock")) // without the lock file the command must create it, which needs write permission
			require.NoError(t, os.Chmod(folder, mode))
			continue
		}
		require.NoError(t, filepath.WalkDir(folder, func(path string, _ os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return os.Chown(path, uid, uid)
		}))
	}
}

// listFileOwners returns the files of folders with their owners.
func (s *service) listFileOwners(folders ...string) (all []string) {
	s.t.Helper()
	for _, folder := range folders {
		require.NoError(s.t, filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err == nil {
				all = append(all, fmt.Sprintf("%s %d", path, info.Sys().(*syscall.Stat_t).Uid))
			}
			return err
		}))
	}
	return all
}
