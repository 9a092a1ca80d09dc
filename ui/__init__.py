"""Everything that knows Streamlit: pages, inputs, charts, words. Money and energy come from `planner`."""
