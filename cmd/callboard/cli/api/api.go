// Package api implements the command callboard api, which sends any request to the HTTP API.
package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/cmd/callboard/cli"
)

// Command returns the command callboard api.
func Command() *cobra.Command {
	body := ""
	var headers []string
	cmd := cli.NewCommand("api METHOD PATH", "Send any request to the API and print the response",
		`callboard api GET /v1/workspace
callboard api PATCH /v1/workspace -d '{"name": "North"}'
callboard api POST /v1/knowledge-bases -d @base.json`,
		cobra.ExactArgs(2), func(s *cli.Session, args []string) error {
			method := strings.ToUpper(args[0])
			if !strings.HasPrefix(args[1], "/") {
				return cli.UsageErrorf("PATH must begin with /, such as /v1/calls?limit=1")
			}
			at, err := url.Parse(args[1])
			if err != nil || at.Host != "" {
				return cli.UsageErrorf("PATH must be a path of the API, such as /v1/calls?limit=1")
			}
			text, err := requestBody(s, body)
			if err != nil {
				return err
			}
			return sendRaw(s, method, at.RequestURI(), text, headers)
		})
	cmd.Flags().StringVarP(&body, "data", "d", "", "JSON body; @FILE reads a file, @- the standard input")
	cmd.Flags().StringArrayVarP(&headers, "header", "H", nil, "header as 'Name: value'; repeatable")
	return cmd
}

// requestBody returns the request body of the flag --data: its text, or the content of a file after "@".
func requestBody(s *cli.Session, data string) ([]byte, error) {
	path, ok := strings.CutPrefix(data, "@")
	if !ok {
		return []byte(data), nil
	}
	return s.ReadInput(path)
}

// sendRaw sends a request and prints the response. It indents a JSON response.
func sendRaw(s *cli.Session, method, path string, body []byte, headers []string) error {
	ctx, cancel := context.WithTimeout(s.Context(), 10*cli.RequestTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimRight(s.URL, "/")+path, bytes.NewReader(body))
	if err != nil {
		return cli.UsageErrorf("%w", err)
	}
	req.Header.Set("Authorization", "Bearer "+s.Key)
	if len(body) > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, ok := strings.Cut(h, ":")
		if !ok {
			return cli.UsageErrorf("--header must be 'Name: value'")
		}
		req.Header.Set(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") && resp.StatusCode < 300 {
		_, err = io.Copy(s.Out(), resp.Body)
		return err
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	var pretty bytes.Buffer
	if json.Indent(&pretty, text, "", "  ") != nil {
		pretty.Reset()
		pretty.Write(text)
	}
	if pretty.Len() > 0 {
		_, err = fmt.Fprintln(s.Out(), strings.TrimRight(pretty.String(), "\n"))
	}
	if err == nil && resp.StatusCode >= 300 {
		err = &client.Error{Status: resp.StatusCode, Code: "refused", Message: resp.Status}
	}
	return err
}
