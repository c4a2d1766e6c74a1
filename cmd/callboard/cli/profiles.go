package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/client"
)

// The variables that say which service is asked. The settings of the service
// pass over them.
const (
	envURL      = "CALLBOARD_URL"
	envKey      = "CALLBOARD_KEY"
	envProfile  = "CALLBOARD_PROFILE"
	envProfiles = "CALLBOARD_PROFILES" // where the file lies
)

// here is where the service is unless somebody says otherwise.
const here = "http://127.0.0.1:8080"

// retries is how often a command asks again what was refused for now.
const retries = 2

// Profile is one service and the key with which it is asked.
type Profile struct {
	URL string `json:"url"`
	Key string `json:"key"`
}

// Profiles are all that the file names.
type Profiles struct {
	Current string             `json:"current,omitempty"`
	List    map[string]Profile `json:"profiles"`
}

var profileName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

func profilesPath() (string, error) {
	if path := os.Getenv(envProfiles); path != "" {
		return path, nil
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("there is no place for profiles: %w; %s names a file", err, envProfiles)
	}
	return filepath.Join(dir, "callboard", "profiles.json"), nil
}

// readProfiles reads the file; without one there are none. A file that others
// can read is not used: its keys are theirs, too.
func readProfiles() (*Profiles, error) {
	all := &Profiles{List: make(map[string]Profile)}
	path, err := profilesPath()
	if err != nil {
		return all, nil // without a place there is no file
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
		return nil, fmt.Errorf("%s holds keys and others may read it: chmod 600 %[1]s", path)
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

// write keeps the file, whole or not at all, for its owner alone.
func (p *Profiles) write() error {
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

func (p *Profiles) named(name string) (Profile, error) {
	if one, ok := p.List[name]; ok {
		return one, nil
	}
	return Profile{}, Misuse("there is no profile %q; callboard profiles list shows them, callboard login makes one", name)
}

// asked is what a command line says of whom it asks.
type asked struct{ url, key, profile string }

// Flags gives a command the flags that say which service is asked and with
// which key, and finds both before the command runs.
func Flags(cmd *cobra.Command) *client.Client {
	c := &client.Client{}
	f := cmd.Flags()
	f.String("url", "", "where the service is; "+envURL+", else the profile's, else "+here)
	f.String("key", "", "an API key; "+envKey+", else the profile's")
	f.String("profile", "", "the service that callboard login knows by this name; "+envProfile+", else the current one")
	_ = cmd.RegisterFlagCompletionFunc("profile", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		all, err := readProfiles()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return slices.Sorted(maps.Keys(all.List)), cobra.ShellCompDirectiveNoFileComp
	})
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		of, err := Of(cmd)
		if err == nil {
			*c = *of
		}
		return err
	}
	return c
}

// Of is the client that the flags of a command name.
func Of(cmd *cobra.Command) (*client.Client, error) {
	var a asked
	for name, to := range map[string]*string{"url": &a.url, "key": &a.key, "profile": &a.profile} {
		var err error
		if *to, err = cmd.Flags().GetString(name); err != nil {
			return nil, err
		}
	}
	p, err := a.resolve(os.Getenv, readProfiles)
	return &client.Client{URL: p.URL, Key: p.Key, Retries: retries}, err
}

// Remote says whether a command line names a service instead of the one whose
// data folder is here.
func Remote(cmd *cobra.Command) bool {
	return cmd.Flags().Changed("url") || cmd.Flags().Changed("profile")
}

// resolve finds whom to ask: the profile that is named, else the environment,
// else the current profile, else the service here. A profile's key goes to its
// own URL only.
func (a *asked) resolve(env func(string) string, read func() (*Profiles, error)) (p Profile, err error) {
	name, fromProfile := a.profile, true
	if env(envURL) != "" || env(envKey) != "" {
		fromProfile = name != ""
	} else {
		name = cmp.Or(name, env(envProfile))
	}
	switch {
	case !fromProfile:
		p = Profile{URL: cmp.Or(env(envURL), here), Key: env(envKey)}
	case name == "" && a.url != "" && a.key != "": // nothing is wanted of the file
	default:
		all, failed := read()
		if failed != nil {
			return p, failed
		}
		if name == "" {
			p = all.List[all.Current]
			break
		}
		if p, err = all.named(name); err != nil {
			return p, err
		}
	}
	p.URL = cmp.Or(p.URL, here)
	if a.url != "" {
		if fromProfile && strings.TrimRight(a.url, "/") != strings.TrimRight(p.URL, "/") {
			p.Key = ""
		}
		p.URL = a.url
	}
	p.Key = cmp.Or(a.key, p.Key)
	u, err := url.Parse(p.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" {
		return p, Misuse("--url must be an http:// or https:// URL without user and query, such as https://calls.example.com")
	}
	return p, nil
}

// inClear says whether a key would cross a network in the clear.
func inClear(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() != "localhost" && (err != nil || !ip.IsLoopback())
}

// patience bounds a question that has one short answer.
const patience = time.Minute
