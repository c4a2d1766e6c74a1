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

// Environment variables that select the service for API commands. The service itself does not read them.
const (
	envURL      = "CALLBOARD_URL"
	EnvKey      = "CALLBOARD_KEY"
	envProfile  = "CALLBOARD_PROFILE"
	envProfiles = "CALLBOARD_PROFILES" // path of the profiles file
)

// defaultURL is the default URL of a service on this machine.
const defaultURL = "http://127.0.0.1:8080"

// RequestTimeout is the time limit of a request with one short response.
const RequestTimeout = time.Minute

// clientRetries is how often an API command repeats a request after a 429 or 503 response.
const clientRetries = 2

// clientFlags contains the values of the flags --url, --key and --profile. A flag that is not set is empty.
type clientFlags struct{ url, key, profile string }

// AddClientFlags adds the flags --url, --key and --profile to cmd. It returns a client, whose URL and key are set just
// before the command runs.
func AddClientFlags(cmd *cobra.Command) *client.Client {
	c := &client.Client{}
	f := cmd.Flags()
	f.String("url", "", "URL of the service. Default: "+envURL+", the URL of the profile, or "+defaultURL)
	f.String("key", "", "API key. Default: "+EnvKey+" or the key of the profile")
	f.String("profile", "", "profile saved by callboard login. Default: "+envProfile+" or the current profile")
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

// ClientOf returns a client for the service that the flags of cmd select.
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

// IsRemote reports whether --url or --profile select a service. Otherwise the command uses the service of the data
// folder on this machine.
func IsRemote(cmd *cobra.Command) bool {
	return cmd.Flags().Changed("url") || cmd.Flags().Changed("profile")
}

// resolve returns the URL and the key of the service. It takes them from the named profile, the environment, the
// current profile or defaultURL, in this order. It never sends the key of a profile to another URL.
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
	case name == "" && a.url != "" && a.key != "": // no profile is needed
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
