package cli

import (
	"cmp"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/client"
)

// Environment variables that name the service. The settings of the service
// ignore them.
const (
	envURL      = "CALLBOARD_URL"
	EnvKey      = "CALLBOARD_KEY"
	envProfile  = "CALLBOARD_PROFILE"
	envProfiles = "CALLBOARD_PROFILES" // path of the file of profiles
)

// defaultURL is the URL of a service on this machine.
const defaultURL = "http://127.0.0.1:8080"

// RequestTimeout bounds a request with one short response.
const RequestTimeout = time.Minute

// clientRetries is how often a command repeats a request after 429 or 503.
const clientRetries = 2

// clientFlags are the values of --url, --key and --profile; empty: not set.
type clientFlags struct{ url, key, profile string }

// AddClientFlags adds --url, --key and --profile to cmd. The returned client
// gets its URL and key before the command runs.
func AddClientFlags(cmd *cobra.Command) *client.Client {
	c := &client.Client{}
	f := cmd.Flags()
	f.String("url", "", "where the service is; "+envURL+", else the profile's, else "+defaultURL)
	f.String("key", "", "an API key; "+EnvKey+", else the profile's")
	f.String("profile", "", "the service that callboard login knows by this name; "+envProfile+", else the current one")
	_ = cmd.RegisterFlagCompletionFunc("profile", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		all, err := ReadProfiles()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return slices.Sorted(maps.Keys(all.List)), cobra.ShellCompDirectiveNoFileComp
	})
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		of, err := ClientOf(cmd)
		if err == nil {
			*c = *of
		}
		return err
	}
	return c
}

// ClientOf returns the client that the flags of cmd name.
func ClientOf(cmd *cobra.Command) (*client.Client, error) {
	var a clientFlags
	for name, to := range map[string]*string{"url": &a.url, "key": &a.key, "profile": &a.profile} {
		var err error
		if *to, err = cmd.Flags().GetString(name); err != nil {
			return nil, err
		}
	}
	p, err := a.resolve(os.Getenv, ReadProfiles)
	return &client.Client{URL: p.URL, Key: p.Key, Retries: clientRetries}, err
}

// IsRemote reports whether the command line names a service by --url or
// --profile, instead of the one of the data folder on this machine.
func IsRemote(cmd *cobra.Command) bool {
	return cmd.Flags().Changed("url") || cmd.Flags().Changed("profile")
}

// resolve returns the URL and the key of the service: of the named profile, else
// of the environment, else of the current profile, else of this machine. The key
// of a profile is sent to the URL of that profile only.
func (a *clientFlags) resolve(env func(string) string, read func() (*Profiles, error)) (p Profile, err error) {
	name, fromProfile := a.profile, true
	if env(envURL) != "" || env(EnvKey) != "" {
		fromProfile = name != ""
	} else {
		name = cmp.Or(name, env(envProfile))
	}
	switch {
	case !fromProfile:
		p = Profile{URL: cmp.Or(env(envURL), defaultURL), Key: env(EnvKey)}
	case name == "" && a.url != "" && a.key != "": // the file of profiles is not needed
	default:
		all, failed := read()
		if failed != nil {
			return p, failed
		}
		if name == "" {
			p = all.List[all.Current]
			break
		}
		if p, err = all.Find(name); err != nil {
			return p, err
		}
	}
	p.URL = cmp.Or(p.URL, defaultURL)
	if a.url != "" {
		if fromProfile && strings.TrimRight(a.url, "/") != strings.TrimRight(p.URL, "/") {
			p.Key = ""
		}
		p.URL = a.url
	}
	p.Key = cmp.Or(a.key, p.Key)
	u, err := url.Parse(p.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" {
		return p, UsageErrorf("--url must be an http:// or https:// URL without user and query, such as https://calls.example.com")
	}
	return p, nil
}
