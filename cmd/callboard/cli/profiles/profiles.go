// Package profiles implements the commands callboard login and callboard profiles, which save the URLs and API keys of
// services under names.
package profiles

import (
	"fmt"
	"maps"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/cmd/callboard/cli"
)

// shownProfile is the output for a profile. It does not contain the API key.
type shownProfile struct {
	Name    string `json:"name"`
	URL     string `json:"url"`
	Current bool   `json:"current"`
}

// Command returns the command callboard profiles with its subcommands.
func Command() *cobra.Command {
	asJSON := false
	list := &cobra.Command{
		Use: "list", Short: "List profiles; an asterisk marks the current one", Args: cobra.NoArgs,
		Example: "  callboard profiles list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := cli.ReadProfiles()
			if err != nil {
				return err
			}
			shown := []shownProfile{}
			for _, name := range slices.Sorted(maps.Keys(all.List)) {
				shown = append(shown, shownProfile{name, all.List[name].URL, name == all.Current})
			}
			if asJSON {
				return cli.WriteJSON(cmd.OutOrStdout(), shown)
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', 0)
			_, _ = fmt.Fprintln(w, "\tNAME\tURL")
			for _, p := range shown {
				_, _ = fmt.Fprintf(w, "%s\t%s\t%s\n", map[bool]string{true: "*"}[p.Current], cli.Clean(p.Name), cli.Clean(p.URL))
			}
			return w.Flush()
		},
	}
	change := func(use, short, example string, do func(*cli.Profiles, string)) *cobra.Command {
		return &cobra.Command{
			Use: use, Short: short, Args: cobra.ExactArgs(1), Example: "  " + example,
			RunE: func(cmd *cobra.Command, args []string) error {
				all, err := cli.ReadProfiles()
				if err != nil {
					return err
				}
				if _, err = all.Find(args[0]); err != nil {
					return err
				}
				do(all, args[0])
				if err = all.Write(); err != nil || !asJSON {
					return err
				}
				return cli.WriteJSON(cmd.OutOrStdout(), shownProfile{args[0], all.List[args[0]].URL, all.Current == args[0]})
			},
		}
	}
	use := change("use NAME", "Make a profile the current one", "callboard profiles use production", func(p *cli.Profiles, name string) { p.Current = name })
	remove := change("remove NAME", "Delete a profile and its key", "callboard profiles remove test", func(p *cli.Profiles, name string) {
		delete(p.List, name)
		if p.Current == name {
			p.Current = ""
		}
	})
	for _, c := range []*cobra.Command{list, use, remove} {
		c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	}
	return cli.Group("profiles", "Manage saved services and keys", list, use, remove)
}
