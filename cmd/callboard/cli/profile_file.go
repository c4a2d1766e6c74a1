package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Profile contains the URL and the API key of one service.
type Profile struct {
	URL string `json:"url"`
	Key string `json:"key"`
}

// Profiles is the content of the profiles file.
type Profiles struct {
	Current string             `json:"current,omitempty"`
	List    map[string]Profile `json:"profiles"`
}

// profilesPath returns the path of the profiles file.
func profilesPath() (string, error) {
	if path := os.Getenv(envProfiles); path != "" {
		return path, nil
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("there is no configuration folder for profiles: %w; set %s to a file", err, envProfiles)
	}
	return filepath.Join(dir, "callboard", "profiles.json"), nil
}

// ReadProfiles reads the profiles file. A missing file counts as empty. A file that the group or others can access is an
// error, because the file contains API keys.
func ReadProfiles() (*Profiles, error) {
	all := &Profiles{List: make(map[string]Profile)}
	path, err := profilesPath()
	if err != nil {
		return all, nil // without a configuration folder there is no file
	}
	f, err := os.Open(path) //nolint:gosec // the user's own file
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s contains keys and other users can read it: run chmod 600 %[1]s", path)
	}
	d := json.NewDecoder(io.LimitReader(f, 1<<20))
	d.DisallowUnknownFields()
	if err = d.Decode(all); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if all.List == nil {
		all.List = make(map[string]Profile)
	}
	return all, nil
}

// Write replaces the profiles file atomically. Only its owner can access the new file.
func (p *Profiles) Write() error {
	path, err := profilesPath()
	if err != nil {
		return err
	}
	if err = os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	text, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	part, err := os.CreateTemp(filepath.Dir(path), ".profiles-*") // 0600
	if err != nil {
		return err
	}
	_, err = part.Write(append(text, '\n'))
	if err = errors.Join(err, part.Sync(), part.Close()); err == nil {
		err = os.Rename(part.Name(), path)
	}
	if err != nil {
		_ = os.Remove(part.Name())
	}
	return err
}

// Find returns the profile with a name. If there is none, it returns a usage error.
func (p *Profiles) Find(name string) (Profile, error) {
	if one, ok := p.List[name]; ok {
		return one, nil
	}
	return Profile{}, UsageErrorf("there is no profile %q: see callboard profiles list, or create it with callboard login", name)
}
