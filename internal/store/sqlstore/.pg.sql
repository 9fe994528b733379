--
-- PostgreSQL database dump
--

\restrict W1n3FKEy7GQxTob7jeH86RGhGZsi2oSJQVN3y255y8sBg1zjEufW0m25FmVf6Gg

-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: refuse_change(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    RAISE EXCEPTION 'a signed reconciliation never changes';
END
$$;


--
-- Name: refuse_orphans(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.refuse_orphans() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    RAISE EXCEPTION 'a % that others belong to cannot be deleted, and keeps its id', TG_TABLE_NAME;
END
$$;


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: account; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.account (
    id bigint NOT NULL,
    revision bigint NOT NULL,
    team text NOT NULL COLLATE pg_catalog."C",
    account_type text NOT NULL,
    currency text NOT NULL,
    billing_name text NOT NULL,
    last_billed_to_on text,
    last_statement_closing_on text,
    last_statement_issued_on text,
    next_bill_due_on text,
    last_statement_balance bigint,
    transfer_balance bigint,
    open_from_on text NOT NULL,
    balance bigint NOT NULL,
    ledger_length bigint NOT NULL,
    note_count bigint NOT NULL,
    statement_count bigint NOT NULL,
    instruction_count bigint NOT NULL,
    run text COLLATE pg_catalog."C",
    posting_count bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='85');


--
-- Name: address; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.address (
    account_id bigint NOT NULL,
    ordinal bigint NOT NULL,
    lines json NOT NULL,
    locality text NOT NULL,
    postal_code text NOT NULL,
    country text NOT NULL
);


--
-- Name: agreement; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.agreement (
    account_id bigint NOT NULL,
    supply_point bigint NOT NULL,
    ordinal bigint NOT NULL,
    product_code text NOT NULL,
    from_on text,
    to_on text,
    agreed_at bigint
);


--
-- Name: api_key; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.api_key (
    id text NOT NULL COLLATE pg_catalog."C",
    organisation text NOT NULL COLLATE pg_catalog."C",
    role text NOT NULL,
    secret_hash bytea NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint,
    revoked_at bigint,
    used_at bigint,
    CONSTRAINT api_key_role_check CHECK ((role = ANY (ARRAY['importer'::text, 'viewer'::text])))
);


--
-- Name: audit; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.audit (
    id bigint NOT NULL,
    at bigint NOT NULL,
    actor text NOT NULL,
    action text NOT NULL,
    subject text NOT NULL COLLATE pg_catalog."C",
    detail text NOT NULL,
    source text DEFAULT ''::text NOT NULL,
    request_id text DEFAULT ''::text NOT NULL,
    acts text DEFAULT ''::text NOT NULL
);
ALTER TABLE ONLY public.audit ALTER COLUMN acts SET STORAGE EXTERNAL;


--
-- Name: audit_chain; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.audit_chain (
    id bigint NOT NULL,
    name text NOT NULL,
    "position" bigint NOT NULL,
    hash text NOT NULL,
    through bigint NOT NULL,
    CONSTRAINT audit_chain_id_check CHECK ((id = 1))
)
WITH (fillfactor='50');


--
-- Name: audit_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.audit ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.audit_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: audit_link; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.audit_link (
    "position" bigint NOT NULL,
    entry bigint NOT NULL,
    hash text NOT NULL
);


--
-- Name: claim_counter; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.claim_counter (
    id bigint NOT NULL,
    CONSTRAINT claim_counter_id_check CHECK ((id = 1))
);


--
-- Name: commit_mark; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.commit_mark (
    id bytea NOT NULL,
    at bigint NOT NULL,
    void boolean NOT NULL
);


--
-- Name: control_totals; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.control_totals (
    id bigint NOT NULL,
    supplier_id bigint NOT NULL,
    set_at bigint NOT NULL,
    totals json NOT NULL,
    key_id text,
    request_id text
);


--
-- Name: control_totals_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.control_totals ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.control_totals_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: customer; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.customer (
    account_id bigint NOT NULL,
    ordinal bigint NOT NULL,
    given_name text NOT NULL,
    family_name text NOT NULL,
    title text NOT NULL,
    email text NOT NULL,
    mobile text NOT NULL,
    landline text NOT NULL,
    born_on text,
    role text NOT NULL
);


--
-- Name: database_identity; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.database_identity (
    id bigint NOT NULL,
    fingerprint text,
    copied_at bigint,
    CONSTRAINT database_identity_id_check CHECK ((id = 1))
);


--
-- Name: deviation; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.deviation (
    id bigint NOT NULL,
    supplier_id bigint NOT NULL,
    external text NOT NULL COLLATE pg_catalog."C",
    figures text NOT NULL
);


--
-- Name: deviation_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.deviation ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.deviation_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: dry_run_lease; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.dry_run_lease (
    token text NOT NULL COLLATE pg_catalog."C",
    supplier_id bigint NOT NULL,
    until bigint NOT NULL
);


--
-- Name: encryption_key; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.encryption_key (
    id text NOT NULL COLLATE pg_catalog."C",
    secret bytea NOT NULL,
    added_at bigint NOT NULL
);


--
-- Name: event; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.event (
    id bigint NOT NULL,
    type text NOT NULL,
    supplier text NOT NULL COLLATE pg_catalog."C",
    external text NOT NULL COLLATE pg_catalog."C",
    account_number text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL,
    details json NOT NULL,
    key_id text COLLATE pg_catalog."C",
    request_id text
);


--
-- Name: event_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.event ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.event_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: event_purge; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.event_purge (
    supplier text NOT NULL COLLATE pg_catalog."C",
    through bigint NOT NULL,
    at bigint NOT NULL
);


--
-- Name: historical_statement; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.historical_statement (
    account_id bigint NOT NULL,
    statement_id text NOT NULL COLLATE pg_catalog."C",
    ordinal bigint NOT NULL,
    from_on text,
    to_on text,
    issued_on text,
    number text NOT NULL,
    gross_amount bigint,
    path text NOT NULL,
    key_id text COLLATE pg_catalog."C",
    request_id text
);


--
-- Name: instruction; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.instruction (
    account_id bigint NOT NULL,
    ordinal bigint NOT NULL,
    vendor text NOT NULL COLLATE pg_catalog."C",
    reference text NOT NULL COLLATE pg_catalog."C",
    type text NOT NULL,
    valid_from_on text,
    for_schedules boolean NOT NULL,
    status text NOT NULL,
    scheme text NOT NULL,
    last_digits text NOT NULL,
    expiry text NOT NULL,
    key_id text COLLATE pg_catalog."C",
    request_id text
);


--
-- Name: ledger_entry; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.ledger_entry (
    account_id bigint NOT NULL,
    transaction_id text NOT NULL COLLATE pg_catalog."C",
    sequence bigint NOT NULL,
    kind text NOT NULL,
    closed boolean NOT NULL,
    signed bigint NOT NULL,
    balance bigint NOT NULL,
    type text NOT NULL,
    entered_on text NOT NULL,
    original_on text,
    reason text NOT NULL,
    note text NOT NULL,
    document json,
    key_id text COLLATE pg_catalog."C",
    request_id text,
    CONSTRAINT ledger_entry_kind_check CHECK ((kind = ANY (ARRAY['opening'::text, 'transaction'::text]))),
    CONSTRAINT ledger_entry_sequence_check CHECK ((sequence > 0))
);


--
-- Name: mail; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.mail (
    id bigint NOT NULL,
    account_id bigint NOT NULL,
    kind text NOT NULL,
    recipient text NOT NULL COLLATE pg_catalog."C",
    queued_at bigint NOT NULL,
    supplier text NOT NULL COLLATE pg_catalog."C",
    language text DEFAULT ''::text NOT NULL,
    state text DEFAULT 'queued'::text NOT NULL,
    due_at bigint,
    settled_at bigint,
    token text,
    attempts bigint DEFAULT 0 NOT NULL,
    uncertain boolean DEFAULT false NOT NULL,
    reply text DEFAULT ''::text NOT NULL,
    purged_at bigint,
    CONSTRAINT mail_check CHECK (((due_at IS NOT NULL) = (state = ANY (ARRAY['queued'::text, 'sending'::text])))),
    CONSTRAINT mail_check1 CHECK (((settled_at IS NULL) = (state = ANY (ARRAY['queued'::text, 'sending'::text])))),
    CONSTRAINT mail_check2 CHECK (((token IS NOT NULL) = (state = 'sending'::text))),
    CONSTRAINT mail_state_check CHECK ((state = ANY (ARRAY['queued'::text, 'sending'::text, 'sent'::text, 'refused'::text, 'withdrawn'::text, 'bounced'::text])))
);


--
-- Name: mail_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.mail ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.mail_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: mail_sender; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.mail_sender (
    id bigint NOT NULL,
    free_at bigint NOT NULL,
    open_until bigint NOT NULL,
    CONSTRAINT mail_sender_id_check CHECK ((id = 1))
);


--
-- Name: meter; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.meter (
    account_id bigint NOT NULL,
    supply_point bigint NOT NULL,
    ordinal bigint NOT NULL,
    serial_number text NOT NULL,
    installed_on text,
    removed_on text,
    registers json NOT NULL
);


--
-- Name: note; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.note (
    account_id bigint NOT NULL,
    digest bigint NOT NULL,
    ordinal bigint NOT NULL,
    body text,
    document_paths json,
    created_at bigint NOT NULL,
    pinned boolean NOT NULL,
    unpin_at bigint,
    key_id text COLLATE pg_catalog."C",
    request_id text
);


--
-- Name: operator; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.operator (
    name text NOT NULL COLLATE pg_catalog."C",
    role text NOT NULL,
    disabled boolean NOT NULL,
    password text NOT NULL,
    totp_secret text NOT NULL,
    totp_used bigint NOT NULL,
    invitation bytea,
    invitation_ends_at bigint,
    created_at bigint NOT NULL,
    password_at bigint,
    signed_in_at bigint,
    CONSTRAINT operator_check CHECK (((invitation IS NULL) = (invitation_ends_at IS NULL))),
    CONSTRAINT operator_role_check CHECK ((role = ANY (ARRAY['operator'::text, 'support'::text])))
);


--
-- Name: operator_session; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.operator_session (
    id text NOT NULL COLLATE pg_catalog."C",
    hash bytea NOT NULL,
    operator text NOT NULL COLLATE pg_catalog."C",
    address text NOT NULL,
    agent text NOT NULL,
    created_at bigint NOT NULL,
    seen_at bigint NOT NULL,
    ends_at bigint NOT NULL
);


--
-- Name: organisation; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.organisation (
    name text NOT NULL COLLATE pg_catalog."C",
    disabled boolean NOT NULL,
    created_at bigint NOT NULL,
    requests_per_second bigint DEFAULT 0 NOT NULL,
    bytes_per_day bigint DEFAULT 0 NOT NULL,
    revisions_per_account bigint DEFAULT 0 NOT NULL,
    tokens_per_minute bigint DEFAULT 600 NOT NULL,
    concurrent_creations bigint DEFAULT 0 NOT NULL
);


--
-- Name: organisation_usage; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.organisation_usage (
    organisation text NOT NULL COLLATE pg_catalog."C",
    used_on text NOT NULL COLLATE pg_catalog."C",
    bytes bigint NOT NULL
);


--
-- Name: payment_schedule; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.payment_schedule (
    account_id bigint NOT NULL,
    ordinal bigint NOT NULL,
    start_on text,
    end_on text,
    trigger_type text NOT NULL,
    amount bigint,
    frequency text NOT NULL,
    day_of_month bigint NOT NULL,
    threshold bigint
);


--
-- Name: process; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.process (
    id bigint NOT NULL,
    supplier_id bigint NOT NULL,
    external text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL,
    revision bigint NOT NULL,
    hash bytea NOT NULL,
    first_staged_at bigint NOT NULL,
    staged_at bigint NOT NULL,
    account_number text COLLATE pg_catalog."C",
    account_created_at bigint,
    skip_reason text,
    claim_token text,
    claim_until bigint,
    failure json,
    failed_at bigint,
    figures text,
    previous_figures text,
    previously_failed boolean,
    erased_at bigint,
    CONSTRAINT process_check CHECK (((state = 'imported'::text) = (account_number IS NOT NULL))),
    CONSTRAINT process_check1 CHECK (((state = 'imported'::text) = (account_created_at IS NOT NULL))),
    CONSTRAINT process_check2 CHECK (((state = 'skipped'::text) = (skip_reason IS NOT NULL))),
    CONSTRAINT process_check3 CHECK (((state = 'claimed'::text) = (claim_token IS NOT NULL))),
    CONSTRAINT process_check4 CHECK (((state = 'claimed'::text) = (claim_until IS NOT NULL))),
    CONSTRAINT process_state_check CHECK ((state = ANY (ARRAY['staged'::text, 'claimed'::text, 'imported'::text, 'skipped'::text])))
)
WITH (fillfactor='95');


--
-- Name: process_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.process ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.process_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: purge_schedule; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.purge_schedule (
    id bigint NOT NULL,
    due_at bigint NOT NULL,
    ended_at bigint,
    CONSTRAINT purge_schedule_id_check CHECK ((id = 1))
);


--
-- Name: refusal; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.refusal (
    supplier_id bigint NOT NULL,
    external text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL,
    failure json NOT NULL,
    key_id text COLLATE pg_catalog."C",
    request_id text
)
WITH (fillfactor='85');


--
-- Name: rekey_progress; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.rekey_progress (
    id bigint NOT NULL,
    key_id text NOT NULL,
    table_name text NOT NULL,
    after_row json NOT NULL,
    seen bigint NOT NULL,
    encrypted bigint NOT NULL,
    missed bigint NOT NULL,
    started_at bigint NOT NULL,
    CONSTRAINT rekey_progress_id_check CHECK ((id = 1))
);


--
-- Name: replica; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.replica (
    id text NOT NULL COLLATE pg_catalog."C",
    host text NOT NULL,
    version text NOT NULL,
    started_at bigint NOT NULL,
    seen_at bigint NOT NULL
);


--
-- Name: run; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.run (
    id bigint NOT NULL,
    number text NOT NULL COLLATE pg_catalog."C",
    supplier_id bigint NOT NULL,
    team text NOT NULL COLLATE pg_catalog."C",
    dry_run boolean NOT NULL,
    selection text NOT NULL,
    sample bigint NOT NULL,
    most bigint NOT NULL,
    at_once bigint NOT NULL,
    not_before bigint,
    not_after bigint,
    state text NOT NULL,
    cancelling boolean NOT NULL,
    reason text NOT NULL,
    created_at bigint NOT NULL,
    started_at bigint,
    ended_at bigint,
    running_since bigint,
    worked bigint NOT NULL,
    cutoff bigint,
    cursor_at bigint NOT NULL,
    cursor_external text NOT NULL COLLATE pg_catalog."C",
    seen bigint NOT NULL,
    selected bigint NOT NULL,
    chosen boolean NOT NULL,
    created_key_id text COLLATE pg_catalog."C",
    created_request_id text,
    key_id text COLLATE pg_catalog."C",
    request_id text,
    undone bigint DEFAULT 0 NOT NULL,
    CONSTRAINT run_selection_check CHECK ((selection = ANY (ARRAY['pending'::text, 'failed'::text, 'untried'::text]))),
    CONSTRAINT run_state_check CHECK ((state = ANY (ARRAY['WAITING'::text, 'RUNNING'::text, 'PAUSED'::text, 'FINISHED'::text, 'CANCELLED'::text])))
);


--
-- Name: run_failure; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.run_failure (
    run_id bigint NOT NULL,
    external text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL,
    failure json NOT NULL
);


--
-- Name: run_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.run ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.run_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: run_member; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.run_member (
    run_id bigint NOT NULL,
    ordinal bigint NOT NULL,
    process_id bigint NOT NULL,
    outcome text,
    CONSTRAINT run_member_outcome_check CHECK ((outcome = ANY (ARRAY['succeeded'::text, 'failed'::text, 'refused'::text])))
)
WITH (fillfactor='70');


--
-- Name: run_sample; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.run_sample (
    run_id bigint NOT NULL,
    at bigint NOT NULL,
    state text NOT NULL,
    done bigint NOT NULL
);


--
-- Name: run_slice; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.run_slice (
    run_id bigint NOT NULL,
    slice bigint NOT NULL,
    size bigint NOT NULL,
    succeeded bigint NOT NULL,
    failed bigint NOT NULL,
    refused bigint NOT NULL,
    token text,
    until bigint,
    width bigint NOT NULL,
    next_at bigint NOT NULL,
    tries bigint NOT NULL,
    done boolean NOT NULL,
    CONSTRAINT run_slice_check CHECK ((done = (((succeeded + failed) + refused) = size))),
    CONSTRAINT run_slice_check1 CHECK (((token IS NULL) = (until IS NULL)))
)
WITH (fillfactor='50');


--
-- Name: schema_step; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.schema_step (
    id integer NOT NULL,
    version_id bigint NOT NULL,
    is_applied boolean NOT NULL,
    tstamp timestamp without time zone DEFAULT now() NOT NULL
);


--
-- Name: schema_step_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.schema_step ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.schema_step_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: search_index; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.search_index (
    id bigint NOT NULL,
    event_after bigint NOT NULL,
    CONSTRAINT search_index_id_check CHECK ((id = 1))
);


--
-- Name: search_term; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.search_term (
    account_id bigint NOT NULL,
    term text NOT NULL COLLATE pg_catalog."C"
);


--
-- Name: service_token; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.service_token (
    hash bytea NOT NULL,
    purpose text NOT NULL,
    key_id text NOT NULL COLLATE pg_catalog."C",
    expires_at bigint NOT NULL,
    spent_at bigint,
    family bytea,
    CONSTRAINT service_token_purpose_check CHECK ((purpose = ANY (ARRAY['access'::text, 'refresh'::text])))
);


--
-- Name: sign_off; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.sign_off (
    id bigint NOT NULL,
    supplier_id bigint NOT NULL,
    signed_at bigint NOT NULL,
    actor text NOT NULL,
    report text NOT NULL,
    report_hash bytea NOT NULL,
    page text NOT NULL,
    page_hash bytea NOT NULL
);


--
-- Name: sign_off_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.sign_off ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.sign_off_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: staging; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.staging (
    process_id bigint NOT NULL,
    revision bigint NOT NULL,
    hash bytea NOT NULL,
    staged_at bigint NOT NULL,
    document bytea NOT NULL,
    key_id text COLLATE pg_catalog."C",
    request_id text,
    purged_at bigint
)
WITH (toast_tuple_target='8160');
ALTER TABLE ONLY public.staging ALTER COLUMN document SET STORAGE EXTERNAL;


--
-- Name: statement_period; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.statement_period (
    account_id bigint NOT NULL,
    ordinal bigint NOT NULL,
    from_on text,
    to_on text,
    balance bigint NOT NULL
);


--
-- Name: supplier; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.supplier (
    id bigint NOT NULL,
    code text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    status text NOT NULL,
    document_root text NOT NULL,
    currency text NOT NULL,
    region text NOT NULL,
    time_zone text NOT NULL,
    send_customer_emails boolean NOT NULL,
    verify_documents boolean NOT NULL,
    concurrency_limit bigint NOT NULL,
    severities json NOT NULL,
    created_at bigint NOT NULL,
    undo_window bigint DEFAULT '259200000000'::bigint NOT NULL,
    keep_staged bigint DEFAULT 0 NOT NULL,
    keep_failures bigint DEFAULT 0 NOT NULL,
    keep_mails bigint DEFAULT 0 NOT NULL,
    keep_events bigint DEFAULT 0 NOT NULL,
    CONSTRAINT supplier_keep_events_check CHECK ((keep_events >= 0)),
    CONSTRAINT supplier_keep_failures_check CHECK ((keep_failures >= 0)),
    CONSTRAINT supplier_keep_mails_check CHECK ((keep_mails >= 0)),
    CONSTRAINT supplier_keep_staged_check CHECK ((keep_staged >= 0)),
    CONSTRAINT supplier_status_check CHECK ((status = ANY (ARRAY['Ongoing'::text, 'Paused'::text, 'Complete'::text]))),
    CONSTRAINT supplier_undo_window_check CHECK ((undo_window >= 0))
);


--
-- Name: supplier_grant; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.supplier_grant (
    supplier_id bigint NOT NULL,
    organisation text NOT NULL COLLATE pg_catalog."C"
);


--
-- Name: supplier_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.supplier ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.supplier_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: supply_point; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.supply_point (
    account_id bigint NOT NULL,
    ordinal bigint NOT NULL,
    address bigint NOT NULL,
    identifier text NOT NULL,
    supply_type text NOT NULL,
    start_on text,
    end_on text
);


--
-- Name: tally; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.tally (
    id bigint NOT NULL,
    supplier_id bigint NOT NULL,
    standing text NOT NULL,
    figures text NOT NULL,
    CONSTRAINT tally_standing_check CHECK ((standing = ANY (ARRAY['pending'::text, 'failed'::text, 'skipped'::text, 'unstaged'::text, 'created'::text, 'deviating'::text])))
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='5000');


--
-- Name: tally_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.tally ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.tally_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: team; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.team (
    name text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL
);


--
-- Name: token_family; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.token_family (
    id bytea NOT NULL,
    ends_at bigint NOT NULL,
    ended_at bigint
);


--
-- Name: undo_refusal; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.undo_refusal (
    reason text NOT NULL COLLATE pg_catalog."C",
    times bigint NOT NULL
);


--
-- Name: undone_account; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.undone_account (
    number text NOT NULL COLLATE pg_catalog."C",
    process_id bigint NOT NULL,
    account_created_at bigint NOT NULL,
    undone_at bigint NOT NULL,
    actor text NOT NULL,
    reason text NOT NULL,
    run_id text COLLATE pg_catalog."C"
);


--
-- Name: vendor; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.vendor (
    code text NOT NULL COLLATE pg_catalog."C",
    adapter text NOT NULL,
    base_url text NOT NULL,
    secret_env text NOT NULL,
    networks json NOT NULL,
    settings json NOT NULL,
    created_at bigint NOT NULL,
    granted_only boolean DEFAULT false NOT NULL
);


--
-- Name: vendor_grant; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.vendor_grant (
    vendor text NOT NULL COLLATE pg_catalog."C",
    supplier_id bigint NOT NULL
);


--
-- Name: webhook; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.webhook (
    name text NOT NULL COLLATE pg_catalog."C",
    organisation text NOT NULL COLLATE pg_catalog."C",
    url text NOT NULL,
    types json NOT NULL,
    suppliers json NOT NULL,
    secrets json NOT NULL,
    state text NOT NULL,
    "position" bigint NOT NULL,
    created_at bigint NOT NULL,
    due_at bigint NOT NULL,
    attempts bigint DEFAULT 0 NOT NULL,
    failing_at bigint,
    delivered bigint DEFAULT 0 NOT NULL,
    delivered_at bigint,
    lease_token text,
    lease_until bigint,
    CONSTRAINT webhook_check CHECK (((lease_token IS NULL) = (lease_until IS NULL))),
    CONSTRAINT webhook_state_check CHECK ((state = ANY (ARRAY['active'::text, 'gone'::text, 'off'::text])))
)
WITH (fillfactor='50');


--
-- Name: webhook_delivery; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.webhook_delivery (
    webhook text NOT NULL COLLATE pg_catalog."C",
    event_id bigint NOT NULL,
    supplier text NOT NULL COLLATE pg_catalog."C",
    external text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL,
    attempts bigint NOT NULL,
    first_at bigint NOT NULL,
    due_at bigint,
    status bigint NOT NULL,
    reason text NOT NULL,
    CONSTRAINT webhook_delivery_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'dead'::text])))
);


--
-- Name: webhook_round; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.webhook_round (
    id bigint NOT NULL,
    webhook text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL,
    "position" bigint NOT NULL,
    delivered bigint NOT NULL,
    failed bigint NOT NULL,
    dead bigint NOT NULL,
    status bigint NOT NULL,
    reason text NOT NULL,
    took bigint NOT NULL
);


--
-- Name: webhook_round_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.webhook_round ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.webhook_round_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Data for Name: account; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: address; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: agreement; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: api_key; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: audit; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: audit_chain; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.audit_chain VALUES (1, 'dde44381-2dbc-4b85-91d7-914fa7dfd3e8', 0, '', 0);


--
-- Data for Name: audit_link; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: claim_counter; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.claim_counter VALUES (1);


--
-- Data for Name: commit_mark; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: control_totals; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: customer; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: database_identity; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.database_identity VALUES (1, NULL, NULL);


--
-- Data for Name: deviation; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: dry_run_lease; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: encryption_key; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: event; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: event_purge; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: historical_statement; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: instruction; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: ledger_entry; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: mail; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: mail_sender; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.mail_sender VALUES (1, 0, 0);


--
-- Data for Name: meter; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: note; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: operator; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: operator_session; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: organisation; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: organisation_usage; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: payment_schedule; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: process; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: purge_schedule; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.purge_schedule VALUES (1, 0, NULL);


--
-- Data for Name: refusal; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: rekey_progress; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: replica; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: run; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: run_failure; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: run_member; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: run_sample; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: run_slice; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: schema_step; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.schema_step VALUES (1, 0, true, '2026-11-17 16:10:52.55951');
INSERT INTO public.schema_step VALUES (2, 1, true, '2026-11-17 16:10:52.574957');


--
-- Data for Name: search_index; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.search_index VALUES (1, 0);


--
-- Data for Name: search_term; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: service_token; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: sign_off; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: staging; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: statement_period; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: supplier; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: supplier_grant; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: supply_point; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: tally; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: team; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: token_family; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: undo_refusal; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: undone_account; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: vendor; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: vendor_grant; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: webhook; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: webhook_delivery; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: webhook_round; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Name: audit_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.audit_id_seq', 1, false);


--
-- Name: control_totals_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.control_totals_id_seq', 1, false);


--
-- Name: deviation_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.deviation_id_seq', 1, false);


--
-- Name: event_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.event_id_seq', 1, false);


--
-- Name: mail_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.mail_id_seq', 1, false);


--
-- Name: process_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.process_id_seq', 1, false);


--
-- Name: run_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.run_id_seq', 1, false);


--
-- Name: schema_step_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.schema_step_id_seq', 2, true);


--
-- Name: sign_off_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.sign_off_id_seq', 1, false);


--
-- Name: supplier_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.supplier_id_seq', 1, false);


--
-- Name: tally_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.tally_id_seq', 1, false);


--
-- Name: webhook_round_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.webhook_round_id_seq', 1, false);


--
-- Name: account account_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.account
    ADD CONSTRAINT account_pkey PRIMARY KEY (id);


--
-- Name: address address_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.address
    ADD CONSTRAINT address_pkey PRIMARY KEY (account_id, ordinal);


--
-- Name: agreement agreement_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.agreement
    ADD CONSTRAINT agreement_pkey PRIMARY KEY (account_id, supply_point, ordinal);


--
-- Name: api_key api_key_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.api_key
    ADD CONSTRAINT api_key_pkey PRIMARY KEY (id);


--
-- Name: audit_chain audit_chain_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit_chain
    ADD CONSTRAINT audit_chain_pkey PRIMARY KEY (id);


--
-- Name: audit_link audit_link_entry_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit_link
    ADD CONSTRAINT audit_link_entry_key UNIQUE (entry);


--
-- Name: audit_link audit_link_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit_link
    ADD CONSTRAINT audit_link_pkey PRIMARY KEY ("position");


--
-- Name: audit audit_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (id);


--
-- Name: claim_counter claim_counter_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.claim_counter
    ADD CONSTRAINT claim_counter_pkey PRIMARY KEY (id);


--
-- Name: commit_mark commit_mark_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.commit_mark
    ADD CONSTRAINT commit_mark_pkey PRIMARY KEY (id);


--
-- Name: control_totals control_totals_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.control_totals
    ADD CONSTRAINT control_totals_pkey PRIMARY KEY (id);


--
-- Name: customer customer_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.customer
    ADD CONSTRAINT customer_pkey PRIMARY KEY (account_id, ordinal);


--
-- Name: database_identity database_identity_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.database_identity
    ADD CONSTRAINT database_identity_pkey PRIMARY KEY (id);


--
-- Name: deviation deviation_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.deviation
    ADD CONSTRAINT deviation_pkey PRIMARY KEY (id);


--
-- Name: dry_run_lease dry_run_lease_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.dry_run_lease
    ADD CONSTRAINT dry_run_lease_pkey PRIMARY KEY (token);


--
-- Name: encryption_key encryption_key_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.encryption_key
    ADD CONSTRAINT encryption_key_pkey PRIMARY KEY (id);


--
-- Name: event event_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.event
    ADD CONSTRAINT event_pkey PRIMARY KEY (id);


--
-- Name: event_purge event_purge_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.event_purge
    ADD CONSTRAINT event_purge_pkey PRIMARY KEY (supplier);


--
-- Name: historical_statement historical_statement_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.historical_statement
    ADD CONSTRAINT historical_statement_pkey PRIMARY KEY (account_id, statement_id, ordinal);


--
-- Name: instruction instruction_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.instruction
    ADD CONSTRAINT instruction_pkey PRIMARY KEY (account_id, ordinal);


--
-- Name: ledger_entry ledger_entry_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.ledger_entry
    ADD CONSTRAINT ledger_entry_pkey PRIMARY KEY (account_id, sequence);


--
-- Name: mail mail_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.mail
    ADD CONSTRAINT mail_pkey PRIMARY KEY (id);


--
-- Name: mail_sender mail_sender_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.mail_sender
    ADD CONSTRAINT mail_sender_pkey PRIMARY KEY (id);


--
-- Name: meter meter_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.meter
    ADD CONSTRAINT meter_pkey PRIMARY KEY (account_id, supply_point, ordinal);


--
-- Name: note note_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.note
    ADD CONSTRAINT note_pkey PRIMARY KEY (account_id, digest, ordinal);


--
-- Name: operator operator_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.operator
    ADD CONSTRAINT operator_pkey PRIMARY KEY (name);


--
-- Name: operator_session operator_session_hash_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.operator_session
    ADD CONSTRAINT operator_session_hash_key UNIQUE (hash);


--
-- Name: operator_session operator_session_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.operator_session
    ADD CONSTRAINT operator_session_pkey PRIMARY KEY (id);


--
-- Name: organisation organisation_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.organisation
    ADD CONSTRAINT organisation_pkey PRIMARY KEY (name);


--
-- Name: organisation_usage organisation_usage_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.organisation_usage
    ADD CONSTRAINT organisation_usage_pkey PRIMARY KEY (organisation, used_on);


--
-- Name: payment_schedule payment_schedule_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.payment_schedule
    ADD CONSTRAINT payment_schedule_pkey PRIMARY KEY (account_id, ordinal);


--
-- Name: process process_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.process
    ADD CONSTRAINT process_pkey PRIMARY KEY (id);


--
-- Name: process process_supplier_id_external_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.process
    ADD CONSTRAINT process_supplier_id_external_key UNIQUE (supplier_id, external);


--
-- Name: purge_schedule purge_schedule_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.purge_schedule
    ADD CONSTRAINT purge_schedule_pkey PRIMARY KEY (id);


--
-- Name: refusal refusal_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.refusal
    ADD CONSTRAINT refusal_pkey PRIMARY KEY (supplier_id, external);


--
-- Name: rekey_progress rekey_progress_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.rekey_progress
    ADD CONSTRAINT rekey_progress_pkey PRIMARY KEY (id);


--
-- Name: replica replica_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.replica
    ADD CONSTRAINT replica_pkey PRIMARY KEY (id);


--
-- Name: run_failure run_failure_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.run_failure
    ADD CONSTRAINT run_failure_pkey PRIMARY KEY (run_id, external);


--
-- Name: run_member run_member_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.run_member
    ADD CONSTRAINT run_member_pkey PRIMARY KEY (run_id, ordinal);


--
-- Name: run run_number_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.run
    ADD CONSTRAINT run_number_key UNIQUE (number);


--
-- Name: run run_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.run
    ADD CONSTRAINT run_pkey PRIMARY KEY (id);


--
-- Name: run_sample run_sample_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.run_sample
    ADD CONSTRAINT run_sample_pkey PRIMARY KEY (run_id, at);


--
-- Name: run_slice run_slice_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.run_slice
    ADD CONSTRAINT run_slice_pkey PRIMARY KEY (run_id, slice);


--
-- Name: schema_step schema_step_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.schema_step
    ADD CONSTRAINT schema_step_pkey PRIMARY KEY (id);


--
-- Name: search_index search_index_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.search_index
    ADD CONSTRAINT search_index_pkey PRIMARY KEY (id);


--
-- Name: search_term search_term_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.search_term
    ADD CONSTRAINT search_term_pkey PRIMARY KEY (account_id, term);


--
-- Name: service_token service_token_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.service_token
    ADD CONSTRAINT service_token_pkey PRIMARY KEY (hash);


--
-- Name: sign_off sign_off_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sign_off
    ADD CONSTRAINT sign_off_pkey PRIMARY KEY (id);


--
-- Name: staging staging_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.staging
    ADD CONSTRAINT staging_pkey PRIMARY KEY (process_id, revision);


--
-- Name: statement_period statement_period_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.statement_period
    ADD CONSTRAINT statement_period_pkey PRIMARY KEY (account_id, ordinal);


--
-- Name: supplier supplier_code_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.supplier
    ADD CONSTRAINT supplier_code_key UNIQUE (code);


--
-- Name: supplier_grant supplier_grant_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.supplier_grant
    ADD CONSTRAINT supplier_grant_pkey PRIMARY KEY (supplier_id, organisation);


--
-- Name: supplier supplier_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.supplier
    ADD CONSTRAINT supplier_pkey PRIMARY KEY (id);


--
-- Name: supply_point supply_point_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.supply_point
    ADD CONSTRAINT supply_point_pkey PRIMARY KEY (account_id, ordinal);


--
-- Name: tally tally_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.tally
    ADD CONSTRAINT tally_pkey PRIMARY KEY (id);


--
-- Name: team team_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.team
    ADD CONSTRAINT team_pkey PRIMARY KEY (name);


--
-- Name: token_family token_family_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.token_family
    ADD CONSTRAINT token_family_pkey PRIMARY KEY (id);


--
-- Name: undo_refusal undo_refusal_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.undo_refusal
    ADD CONSTRAINT undo_refusal_pkey PRIMARY KEY (reason);


--
-- Name: undone_account undone_account_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.undone_account
    ADD CONSTRAINT undone_account_pkey PRIMARY KEY (number);


--
-- Name: vendor_grant vendor_grant_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.vendor_grant
    ADD CONSTRAINT vendor_grant_pkey PRIMARY KEY (vendor, supplier_id);


--
-- Name: vendor vendor_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.vendor
    ADD CONSTRAINT vendor_pkey PRIMARY KEY (code);


--
-- Name: webhook_delivery webhook_delivery_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.webhook_delivery
    ADD CONSTRAINT webhook_delivery_pkey PRIMARY KEY (webhook, event_id);


--
-- Name: webhook webhook_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.webhook
    ADD CONSTRAINT webhook_pkey PRIMARY KEY (name);


--
-- Name: webhook_round webhook_round_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.webhook_round
    ADD CONSTRAINT webhook_round_pkey PRIMARY KEY (id);


--
-- Name: audit_subject; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX audit_subject ON public.audit USING btree (subject, id) WHERE (subject <> ''::text);


--
-- Name: commit_mark_at; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX commit_mark_at ON public.commit_mark USING btree (at);


--
-- Name: control_totals_supplier; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX control_totals_supplier ON public.control_totals USING btree (supplier_id, id);


--
-- Name: deviation_account; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX deviation_account ON public.deviation USING btree (supplier_id, external, id);


--
-- Name: event_completed; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX event_completed ON public.event USING btree (account_number) WHERE (type = 'account_import.completed'::text);


--
-- Name: event_process; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX event_process ON public.event USING btree (supplier, external, id);


--
-- Name: event_supplier; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX event_supplier ON public.event USING btree (supplier, id);


--
-- Name: historical_statement_page; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX historical_statement_page ON public.historical_statement USING btree (account_id, ordinal) WHERE (ordinal > 200);


--
-- Name: instruction_reference; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX instruction_reference ON public.instruction USING btree (account_id, vendor, reference) WHERE (ordinal > 16);


--
-- Name: ledger_entry_transaction; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX ledger_entry_transaction ON public.ledger_entry USING btree (account_id, transaction_id, sequence);


--
-- Name: mail_due; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX mail_due ON public.mail USING btree (supplier, due_at) WHERE (due_at IS NOT NULL);


--
-- Name: mail_once; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX mail_once ON public.mail USING btree (account_id, kind, recipient);


--
-- Name: mail_settled; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX mail_settled ON public.mail USING btree (supplier, settled_at, id) WHERE ((due_at IS NULL) AND (purged_at IS NULL));


--
-- Name: mail_state; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX mail_state ON public.mail USING btree (state, id);


--
-- Name: note_created; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX note_created ON public.note USING btree (account_id, digest, created_at) WHERE (ordinal > 64);


--
-- Name: note_page; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX note_page ON public.note USING btree (account_id, ordinal) WHERE (ordinal > 200);


--
-- Name: note_pinned; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX note_pinned ON public.note USING btree (account_id, ordinal) WHERE pinned;


--
-- Name: operator_invitation; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX operator_invitation ON public.operator USING btree (invitation) WHERE (invitation IS NOT NULL);


--
-- Name: operator_session_end; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX operator_session_end ON public.operator_session USING btree (ends_at);


--
-- Name: operator_session_operator; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX operator_session_operator ON public.operator_session USING btree (operator);


--
-- Name: process_account_number; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX process_account_number ON public.process USING btree (account_number) WHERE (account_number IS NOT NULL);


--
-- Name: process_claimed; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX process_claimed ON public.process USING btree (supplier_id) WHERE (state = 'claimed'::text);


--
-- Name: process_failed; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX process_failed ON public.process USING btree (supplier_id, external) WHERE ((failed_at IS NOT NULL) AND (skip_reason IS NULL));


--
-- Name: process_imported; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX process_imported ON public.process USING btree (supplier_id, first_staged_at, external) WHERE (account_number IS NOT NULL);


--
-- Name: process_pending; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX process_pending ON public.process USING btree (supplier_id, first_staged_at, external) WHERE ((account_number IS NULL) AND (skip_reason IS NULL));


--
-- Name: process_skipped; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX process_skipped ON public.process USING btree (supplier_id, first_staged_at, external) WHERE (skip_reason IS NOT NULL);


--
-- Name: run_list; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX run_list ON public.run USING btree (supplier_id, id);


--
-- Name: run_live; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX run_live ON public.run USING btree (supplier_id) WHERE (state = ANY (ARRAY['WAITING'::text, 'RUNNING'::text, 'PAUSED'::text]));


--
-- Name: run_slice_open; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX run_slice_open ON public.run_slice USING btree (run_id, slice) WHERE (done = false);


--
-- Name: search_term_found; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX search_term_found ON public.search_term USING btree (term, account_id);


--
-- Name: service_token_expiry; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX service_token_expiry ON public.service_token USING btree (expires_at);


--
-- Name: sign_off_supplier; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX sign_off_supplier ON public.sign_off USING btree (supplier_id, id);


--
-- Name: supplier_grant_organisation; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX supplier_grant_organisation ON public.supplier_grant USING btree (organisation);


--
-- Name: tally_supplier; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX tally_supplier ON public.tally USING btree (supplier_id, id);


--
-- Name: token_family_end; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX token_family_end ON public.token_family USING btree (ends_at);


--
-- Name: undone_account_process; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX undone_account_process ON public.undone_account USING btree (process_id, undone_at);


--
-- Name: undone_account_run; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX undone_account_run ON public.undone_account USING btree (run_id) WHERE (run_id IS NOT NULL);


--
-- Name: webhook_delivery_account; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX webhook_delivery_account ON public.webhook_delivery USING btree (webhook, supplier, external, event_id) WHERE (state = 'waiting'::text);


--
-- Name: webhook_delivery_due; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX webhook_delivery_due ON public.webhook_delivery USING btree (webhook, due_at) WHERE (due_at IS NOT NULL);


--
-- Name: webhook_delivery_event; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX webhook_delivery_event ON public.webhook_delivery USING btree (event_id);


--
-- Name: webhook_organisation; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX webhook_organisation ON public.webhook USING btree (organisation);


--
-- Name: webhook_round_webhook; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX webhook_round_webhook ON public.webhook_round USING btree (webhook, id);


--
-- Name: process process_no_delete; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER process_no_delete BEFORE DELETE ON public.process FOR EACH ROW WHEN ((old.revision > 0)) EXECUTE FUNCTION public.refuse_orphans();


--
-- Name: process process_no_truncate; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER process_no_truncate BEFORE UPDATE OF id OR TRUNCATE ON public.process FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_orphans();


--
-- Name: sign_off sign_off_no_update; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER sign_off_no_update BEFORE DELETE OR UPDATE OR TRUNCATE ON public.sign_off FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_change();


--
-- Name: supplier supplier_no_delete; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER supplier_no_delete BEFORE DELETE OR UPDATE OF id OR TRUNCATE ON public.supplier FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_orphans();


--
-- Name: api_key api_key_organisation_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.api_key
    ADD CONSTRAINT api_key_organisation_fkey FOREIGN KEY (organisation) REFERENCES public.organisation(name);


--
-- Name: control_totals control_totals_supplier_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.control_totals
    ADD CONSTRAINT control_totals_supplier_id_fkey FOREIGN KEY (supplier_id) REFERENCES public.supplier(id);


--
-- Name: dry_run_lease dry_run_lease_supplier_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.dry_run_lease
    ADD CONSTRAINT dry_run_lease_supplier_id_fkey FOREIGN KEY (supplier_id) REFERENCES public.supplier(id);


--
-- Name: operator_session operator_session_operator_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.operator_session
    ADD CONSTRAINT operator_session_operator_fkey FOREIGN KEY (operator) REFERENCES public.operator(name);


--
-- Name: organisation_usage organisation_usage_organisation_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.organisation_usage
    ADD CONSTRAINT organisation_usage_organisation_fkey FOREIGN KEY (organisation) REFERENCES public.organisation(name);


--
-- Name: refusal refusal_supplier_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.refusal
    ADD CONSTRAINT refusal_supplier_id_fkey FOREIGN KEY (supplier_id) REFERENCES public.supplier(id);


--
-- Name: run_sample run_sample_run_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.run_sample
    ADD CONSTRAINT run_sample_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.run(id);


--
-- Name: run_slice run_slice_run_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.run_slice
    ADD CONSTRAINT run_slice_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.run(id);


--
-- Name: run run_supplier_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.run
    ADD CONSTRAINT run_supplier_id_fkey FOREIGN KEY (supplier_id) REFERENCES public.supplier(id);


--
-- Name: service_token service_token_key_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.service_token
    ADD CONSTRAINT service_token_key_id_fkey FOREIGN KEY (key_id) REFERENCES public.api_key(id);


--
-- Name: sign_off sign_off_supplier_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sign_off
    ADD CONSTRAINT sign_off_supplier_id_fkey FOREIGN KEY (supplier_id) REFERENCES public.supplier(id);


--
-- Name: supplier_grant supplier_grant_organisation_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.supplier_grant
    ADD CONSTRAINT supplier_grant_organisation_fkey FOREIGN KEY (organisation) REFERENCES public.organisation(name);


--
-- Name: supplier_grant supplier_grant_supplier_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.supplier_grant
    ADD CONSTRAINT supplier_grant_supplier_id_fkey FOREIGN KEY (supplier_id) REFERENCES public.supplier(id);


--
-- Name: undone_account undone_account_process_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.undone_account
    ADD CONSTRAINT undone_account_process_id_fkey FOREIGN KEY (process_id) REFERENCES public.process(id);


--
-- Name: vendor_grant vendor_grant_supplier_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.vendor_grant
    ADD CONSTRAINT vendor_grant_supplier_id_fkey FOREIGN KEY (supplier_id) REFERENCES public.supplier(id);


--
-- Name: vendor_grant vendor_grant_vendor_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.vendor_grant
    ADD CONSTRAINT vendor_grant_vendor_fkey FOREIGN KEY (vendor) REFERENCES public.vendor(code) ON DELETE CASCADE;


--
-- Name: webhook_delivery webhook_delivery_webhook_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.webhook_delivery
    ADD CONSTRAINT webhook_delivery_webhook_fkey FOREIGN KEY (webhook) REFERENCES public.webhook(name) ON DELETE CASCADE;


--
-- Name: webhook webhook_organisation_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.webhook
    ADD CONSTRAINT webhook_organisation_fkey FOREIGN KEY (organisation) REFERENCES public.organisation(name);


--
-- Name: webhook_round webhook_round_webhook_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.webhook_round
    ADD CONSTRAINT webhook_round_webhook_fkey FOREIGN KEY (webhook) REFERENCES public.webhook(name) ON DELETE CASCADE;


--
-- PostgreSQL database dump complete
--

\unrestrict W1n3FKEy7GQxTob7jeH86RGhGZsi2oSJQVN3y255y8sBg1zjEufW0m25FmVf6Gg

public|process|external|0|3|-1|0.81993854
public|process|supplier_id|0|8|1|1
public|refusal|external|0|3|-1|0.81993854
public|refusal|supplier_id|0|8|1|1
account|-1
account_pkey|0
address|-1
address_pkey|0
agreement|-1
agreement_pkey|0
api_key|-1
api_key_pkey|0
audit|-1
audit_chain|-1
audit_chain_pkey|0
audit_link|-1
audit_link_entry_key|0
audit_link_pkey|0
audit_pkey|0
audit_subject|0
claim_counter|-1
claim_counter_pkey|0
commit_mark|-1
commit_mark_at|0
commit_mark_pkey|0
control_totals|-1
control_totals_pkey|0
control_totals_supplier|0
customer|-1
customer_pkey|0
database_identity|-1
database_identity_pkey|0
deviation|-1
deviation_account|0
deviation_pkey|0
dry_run_lease|-1
dry_run_lease_pkey|0
encryption_key|-1
encryption_key_pkey|0
event|-1
event_completed|0
event_pkey|0
event_process|0
event_purge|-1
event_purge_pkey|0
event_supplier|0
historical_statement|-1
historical_statement_page|0
historical_statement_pkey|0
instruction|-1
instruction_pkey|0
instruction_reference|0
ledger_entry|-1
ledger_entry_pkey|0
ledger_entry_transaction|0
mail|-1
mail_due|0
mail_once|0
mail_pkey|0
mail_sender|-1
mail_sender_pkey|0
mail_settled|0
mail_state|0
meter|-1
meter_pkey|0
note|-1
note_created|0
note_page|0
note_pinned|0
note_pkey|0
operator|-1
operator_invitation|0
operator_pkey|0
operator_session|-1
operator_session_end|0
operator_session_hash_key|0
operator_session_operator|0
operator_session_pkey|0
organisation|-1
organisation_pkey|0
organisation_usage|-1
organisation_usage_pkey|0
payment_schedule|-1
payment_schedule_pkey|0
process|1000
process_account_number|0
process_claimed|0
process_failed|0
process_imported|0
process_pending|1000
process_pkey|1000
process_skipped|0
process_supplier_id_external_key|1000
purge_schedule|-1
purge_schedule_pkey|0
refusal|1000
refusal_pkey|1000
rekey_progress|-1
rekey_progress_pkey|0
replica|-1
replica_pkey|0
run|-1
run_failure|-1
run_failure_pkey|0
run_list|0
run_live|0
run_member|-1
run_member_pkey|0
run_number_key|0
run_pkey|0
run_sample|-1
run_sample_pkey|0
run_slice|-1
run_slice_open|0
run_slice_pkey|0
schema_step|-1
schema_step_pkey|0
search_index|-1
search_index_pkey|0
search_term|-1
search_term_found|0
search_term_pkey|0
service_token|-1
service_token_expiry|0
service_token_pkey|0
sign_off|-1
sign_off_pkey|0
sign_off_supplier|0
staging|-1
staging_pkey|0
statement_period|-1
statement_period_pkey|0
supplier|-1
supplier_code_key|0
supplier_grant|-1
supplier_grant_organisation|0
supplier_grant_pkey|0
supplier_pkey|0
supply_point|-1
supply_point_pkey|0
tally|-1
tally_pkey|0
tally_supplier|0
team|-1
team_pkey|0
token_family|-1
token_family_end|0
token_family_pkey|0
undo_refusal|-1
undo_refusal_pkey|0
undone_account|-1
undone_account_pkey|0
undone_account_process|0
undone_account_run|0
vendor|-1
vendor_grant|-1
vendor_grant_pkey|0
vendor_pkey|0
webhook|-1
webhook_delivery|-1
webhook_delivery_account|0
webhook_delivery_due|0
webhook_delivery_event|0
webhook_delivery_pkey|0
webhook_organisation|0
webhook_pkey|0
webhook_round|-1
webhook_round_pkey|0
webhook_round_webhook|0
account|{fillfactor=85}
audit_chain|{fillfactor=50}
pg_stats|{security_barrier=true}
pg_stats_ext|{security_barrier=true}
pg_stats_ext_exprs|{security_barrier=true}
process|{fillfactor=95}
refusal|{fillfactor=85}
run_member|{fillfactor=70}
run_slice|{fillfactor=50}
staging|{toast_tuple_target=8160}
tally|{autovacuum_vacuum_scale_factor=0,autovacuum_vacuum_threshold=5000}
webhook|{fillfactor=50}
