package llmtest

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/ragjudge/ragjudge/llm"
)

const jsonType = "application/json"

// maxBody bounds a request, in bytes.
const maxBody = 64 << 20

// exchange is one chat request on its way to its reply.
type exchange struct {
	s     *Server
	w     http.ResponseWriter
	http  *http.Request
	req   *Request
	entry *entry
	azure bool
	// header goes into the reply, whatever it is: the rate limits.
	header http.Header
}

func (s *Server) chat(w http.ResponseWriter, r *http.Request, deployment string) {
	body, err := readAll(r)
	if err != nil {
		respond(w, http.StatusBadRequest, jsonType, nil, []byte(invalid(err.Error()).String()))
		return // there was no whole request
	}
	x := &exchange{s: s, w: w, http: r, entry: s.log.arrive(r, body), azure: deployment != "", header: http.Header{}}
	defer s.log.end(x.entry, 0, false, false) // if nothing else ended it
	x.req, err = decodeRequest(body, deployment)
	x.req.N, x.req.Attempt, x.req.path, x.req.key = x.entry.rec.N, x.entry.rec.Attempt, r.URL.Path, bearer(r)
	if x.azure {
		x.req.key = r.Header.Get("Api-Key")
	}
	if refusal, ok := s.admitted(x.req.key, x.azure); !ok {
		x.refuse(http.StatusUnauthorized, refusal)
		return
	}
	switch {
	case x.azure && r.URL.Query().Get("api-version") == "":
		x.refuse(http.StatusNotFound, azureError("404", "Resource not found"))
	case err != nil:
		x.refuse(http.StatusBadRequest, invalid(err.Error()).String())
	case len(s.opts.Models) > 0 && !slices.Contains(s.opts.Models, x.req.Model):
		x.refuse(http.StatusNotFound, noModel(x.req, x.azure))
	default:
		x.ask()
	}
}

// ask goes on with a request that is well formed.
func (x *exchange) ask() {
	if refusal := rejected(x.s.opts.Rejects, x.req); refusal != "" {
		x.refuse(http.StatusBadRequest, refusal)
		return
	}
	if !x.withinLimit() {
		return
	}
	var f Fault
	if x.s.opts.Fault != nil {
		f = x.s.opts.Fault(x.req.N, x.req)
	}
	if f.name != "" {
		x.s.log.struck(x.entry, f.name)
	}
	d := f.delay + x.s.opts.Latency
	if x.s.opts.LatencyOf != nil {
		d += x.s.opts.LatencyOf(x.req)
	}
	if !x.s.wait(x.http, d) {
		x.s.log.end(x.entry, 0, false, false)
		panic(http.ErrAbortHandler) // to return would send an empty 200
	}
	if f.serve != nil {
		f.serve(x)
		return
	}
	c := x.complete()
	if f.change != nil {
		f.change(&c, x.req)
	}
	x.send(c, !f.useless)
}

// complete is the answer before a fault spoils it.
func (x *exchange) complete() completion {
	text := x.s.opts.Answer(x.req.Ask)
	return completion{content: &text, finish: string(llm.FinishStop)}
}

func (x *exchange) wire(c completion) []byte {
	x.s.spent(c.tokens())
	return c.wire(x.req, x.s.opts.Served(x.req.Model), x.s.opts.Now().Unix())
}

// send replies with a completion, which is charged for.
func (x *exchange) send(c completion, whole bool) {
	body := x.wire(c)
	x.s.log.end(x.entry, http.StatusOK, true, whole)
	respond(x.w, http.StatusOK, jsonType, x.header, body)
}

// refuse replies with an error in JSON.
func (x *exchange) refuse(status int, body string) { x.reply(status, jsonType, body) }

// reply replies with something that is not charged for.
func (x *exchange) reply(status int, contentType, body string) {
	x.s.log.end(x.entry, status, false, false)
	respond(x.w, status, contentType, x.header, []byte(body))
}

// admitted checks the key, and returns the refusal's body where it is wrong.
func (s *Server) admitted(key string, azure bool) (refusal string, ok bool) {
	switch {
	case s.opts.Key == "" || key == s.opts.Key:
		return "", true
	case azure:
		return azureError("401", "Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a valid key for an active subscription and use a correct regional API endpoint for your resource."), false
	}
	return wrongKey(key), false
}

func bearer(r *http.Request) string {
	key, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return key
}

func noModel(r *Request, azure bool) string {
	if azure {
		return azureError("DeploymentNotFound", "The API deployment for this resource does not exist. If you created the deployment within the last 5 minutes, please wait a moment and try again.")
	}
	return apiError{message: fmt.Sprintf("The model `%s` does not exist or you do not have access to it.", r.Model),
		kind: "invalid_request_error", code: "model_not_found"}.String()
}

// rejected is the refusal of a request's first part that is among names, or "".
func rejected(names []string, r *Request) string {
	for _, name := range names {
		switch name {
		case "json_schema", "json_object":
			if r.format == name {
				return apiError{message: fmt.Sprintf("Invalid parameter: 'response_format' of type '%s' is not supported with this model.", name),
					kind: "invalid_request_error", param: "response_format"}.String()
			}
		case "system":
			if slices.ContainsFunc(r.Messages, func(m llm.Message) bool { return m.Role == llm.System }) {
				return invalid("System role not supported").String()
			}
		default:
			if _, there := r.members[name]; there {
				return unsupported(name)
			}
		}
	}
	return ""
}

func unsupported(name string) string {
	message := fmt.Sprintf("Unsupported parameter: '%s' is not supported with this model.", name)
	if name == "max_tokens" {
		message += " Use 'max_completion_tokens' instead."
	}
	return apiError{message: message, kind: "invalid_request_error", param: name, code: "unsupported_parameter"}.String()
}

func readAll(r *http.Request) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err == nil && len(b) > maxBody {
		err = fmt.Errorf("the request is longer than %d bytes", maxBody)
	}
	return b, err
}
