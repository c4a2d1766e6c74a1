package cli

import (
	"cmp"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/callboard/callboard/client"
	"github.com/spf13/cobra"
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

// patience bounds a question that has one short answer.
const patience = time.Minute

// retries is how often a command asks again what was refused for now.
const retries = 2

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
